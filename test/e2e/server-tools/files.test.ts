/** The server tool file_search, in the words of each dialect: what it finds, whose files, and what it forgets. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, objectsIn } from '../../../src/core/json.ts'
import { openaiOf } from '../../file-setup.ts'
import { API_KEY } from '../../gateway.ts'
import { askAs, CALLERS } from '../../plugins/callers.ts'
import { ask, calls, messageOf, STEP_USD, says, startTools, uploadTo } from './setup.ts'

const { upstream, gateway, results } = await startTools({}, true)

const HANDBOOK = `${'Rules of the house. '.repeat(200)}\n\nThe aquarium is fed on Tuesdays by the caretaker.\n\n${'More rules. '.repeat(200)}`
const files = { handbook: '', prices: '', foreign: '' }
let otherKey = ''

const upload = (name: string, content: string | Uint8Array<ArrayBuffer>, workspace = '') =>
  uploadTo(gateway, name, content, workspace)

beforeAll(async () => {
  files.handbook = await upload('handbook.txt', HANDBOOK)
  files.prices = await upload(
    'prices.html',
    '<html><body><p>Bread costs 3 euros.</p><p>面包三欧元。</p></body></html>',
  )
  const made = await gateway.manage('POST', '/workspaces', { name: 'Others', slug: 'others' })
  const { data } = await made.json()
  files.foreign = await upload('secret.txt', 'The aquarium of the others is empty.', data.id)
  otherKey = (await gateway.makeKey({ workspace_id: data.id })).key
})
beforeEach(() => {
  upstream.seen.length = 0
})

const TEXT = () => `Tuesdays, says the [handbook](${files.handbook}).`
const searches = (query: string, id = 'c1') => ({ name: 'file_search', args: { query }, id })
const script = (query = 'aquarium feeding') =>
  upstream.inTurn('tiny', [calls([searches(query)]), says(TEXT())])
const toolOf = (parameters: object = {}) => [{ type: 'openrouter:file_search', parameters }]

const keyed = (key: string) => ({ authorization: `Bearer ${key}` })

/** What the model is given for a query. */
async function found(query: string, parameters: object = {}, key = API_KEY): Promise<string> {
  script(query)
  const response = await gateway.call('/chat/completions', ask({ tools: toolOf(parameters) }), keyed(key))
  expect(response.status, await response.text()).toBe(200)
  return results()[0] ?? ''
}

/** What `GET /files/{id}` says of the search. */
async function statusOf(id: string): Promise<unknown> {
  const response = await fetch(`${gateway.url}/api/v1/files/${id}`, { headers: keyed(API_KEY) })
  const { search } = await response.json()
  return search
}

const rows = CALLERS.flatMap((caller) =>
  [false, true].map((stream) => ({ caller, stream, as: caller.dialect })),
)

test.each(rows)(
  'a caller of $as gets an answer from its files, streamed: $stream',
  async ({ caller, stream }) => {
    script()
    const before = gateway.generations().length
    const { status, raw } = await askAs(gateway, caller, 'When?', {
      model: 'tiny',
      stream,
      more: { tools: toolOf() },
    })
    expect(status, raw).toBe(200)
    expect(raw).toContain('Tuesdays, says')
    expect(results()[0]).toContain('The aquarium is fed on Tuesdays')
    expect(results()[0]).toContain(`<file_passage id="${files.handbook}" name="handbook.txt">`)
    const [first, search, last] = gateway.generations().slice(before)
    expect(search).toMatchObject({
      parent_id: first?.['id'],
      model: 'openrouter:file_search',
      cost_nano_usd: 0,
    })
    expect(last).toMatchObject({ parent_id: first?.['id'], cost_nano_usd: 20_000 })
  },
)

test('chat: a link to the file is a citation of it, and the search is free', async () => {
  script()
  const { choices, usage } = await (await gateway.call('/chat/completions', ask({ tools: toolOf() }))).json()
  expect(choices[0].message.annotations).toEqual([
    { type: 'file_citation', file_id: files.handbook, filename: 'handbook.txt', index: TEXT().length - 1 },
  ])
  expect(usage.cost).toBeCloseTo(2 * STEP_USD, 12)
})

describe('Responses', () => {
  const body = (more: object = {}) => ({
    model: 'tiny',
    input: 'When?',
    tools: [{ type: 'file_search', vector_store_ids: [files.handbook, files.prices], max_num_results: 1 }],
    ...more,
  })
  const citation = () => ({
    type: 'file_citation',
    file_id: files.handbook,
    filename: 'handbook.txt',
    index: TEXT().length - 1,
  })

  test('have OpenAI’s item and its events, and the citation, for OpenAI’s client', async () => {
    upstream.inTurn('tiny', [calls([searches('aquarium')], 'Let me see.'), says(TEXT())])
    const { responses } = openaiOf(gateway)
    const asked = { model: 'tiny', input: 'When?' }
    // The client's own types know no files in place of vector stores.
    Object.assign(asked, body())
    const stream = responses.stream(asked)
    const seen: string[] = []
    for await (const { type } of stream) if (type.includes('file_search')) seen.push(type)
    expect(seen).toEqual(
      ['in_progress', 'searching', 'completed'].map((stage) => `response.file_search_call.${stage}`),
    )
    const { output } = await stream.finalResponse()
    expect(output).toMatchObject([
      { type: 'message' },
      { type: 'file_search_call', status: 'completed', queries: ['aquarium'], results: null },
      { type: 'message', content: [{ annotations: [citation()] }] },
    ])
  })

  test('have the results if include asks for them, and are continued', async () => {
    script()
    const include = ['file_search_call.results']
    const first = await (await gateway.call('/responses', body({ include, store: true }))).json()
    expect(first.output[0].results).toMatchObject([
      { file_id: files.handbook, filename: 'handbook.txt', score: 1, attributes: {} },
    ])
    expect(first.output[0].results[0].text).toContain('The aquarium is fed')
    upstream.inTurn('tiny', [says('Yes.')])
    const next = body({ input: 'Sure?', previous_response_id: first.id })
    expect((await gateway.call('/responses', next)).status).toBe(200)
    expect(JSON.stringify(upstream.seen.at(-1)?.body)).toContain('The aquarium is fed')
  })
})

test('Messages: a block of the result, which the next turn may have', async () => {
  script()
  const asked = {
    model: 'tiny',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'When?' }],
    tools: toolOf(),
  }
  const { content } = await (await gateway.call('/messages', asked)).json()
  expect(content).toMatchObject([
    { type: 'server_tool_use', name: 'file_search' },
    { type: 'file_search_tool_result', content: [{ type: 'text' }] },
    { type: 'text' },
  ])
  upstream.inTurn('tiny', [says('Yes.')])
  const messages = [...asked.messages, { role: 'assistant', content }, { role: 'user', content: 'Sure?' }]
  expect((await gateway.call('/messages', { ...asked, messages })).status).toBe(200)
  expect(JSON.stringify(upstream.seen.at(-1)?.body)).toContain('The aquarium is fed')
})

describe('a search', () => {
  test('is one in the files of the caller’s workspace alone', async () => {
    expect(await found('aquarium')).not.toContain('of the others')
    expect(await found('aquarium', {}, otherKey)).toContain('of the others')
    expect(await found('aquarium', {}, otherKey)).not.toContain('Tuesdays')
    for (const [id, key] of [
      [files.foreign, API_KEY],
      [files.handbook, otherKey],
    ] as const) {
      const tools = toolOf({ file_ids: [id] })
      const response = await gateway.call('/chat/completions', ask({ tools }), keyed(key))
      expect(response.status).toBe(404)
      expect(await messageOf(response)).toBe(
        `tools[0].parameters.file_ids: there is no file "${id}" in this workspace`,
      )
    }
  })

  test('finds other forms of a word, and words of scripts without spaces', async () => {
    expect(await found('who feeds aquariums')).toContain('on Tuesdays')
    expect(await found('三欧元')).toContain('面包三欧元')
    expect(await found('"*^ OR ) NEAR(')).toContain('The search found nothing.')
    expect(await found('?')).toContain('The search found nothing.')
  })

  test('keeps to the files, the filters and the number of the request', async () => {
    expect(await found('aquarium', { file_ids: [files.prices] })).toContain('The search found nothing.')
    const html = { type: 'eq', key: 'mime_type', value: 'text/html' }
    expect(await found('aquarium bread', { filters: html })).not.toContain('aquarium is')
    const small = {
      type: 'and',
      filters: [
        { type: 'lt', key: 'size_bytes', value: 1_000 },
        { ...html, type: 'ne' },
      ],
    }
    expect(await found('bread', { filters: small })).toContain('There are no files to search.')
    expect((await found('rules', { max_num_results: 2 })).split('<file_passage ')).toHaveLength(3)
    expect(
      (await found('rules house bread', { ranking_options: { score_threshold: 1 } })).split(
        '</file_passage>',
      ),
    ).toHaveLength(2)
  })

  test('names files that cannot be read, and passes over images', async () => {
    const broken = await upload('broken.pdf', '%PDF-1.7\nnothing')
    const image = await upload(
      'pixel.png',
      Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        'base64',
      ),
    )
    expect(await statusOf(broken)).toEqual({ status: 'unread' })
    const text = await found('aquarium')
    expect(text).toContain('The file "broken.pdf" cannot be searched: ')
    expect(text).not.toContain('pixel.png')
    expect(await Promise.all([broken, image, files.handbook].map(statusOf))).toEqual([
      { status: 'refused', reason: 'it is broken' },
      { status: 'refused', reason: 'it has no text' },
      { status: 'ready' },
    ])
    for (const id of [broken, image])
      await fetch(`${gateway.url}/api/v1/files/${id}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${API_KEY}` },
      })
    expect(await found('aquarium')).not.toContain('broken.pdf')
  })

  test('forgets a file that is deleted, and leaves no word of it on the disk', async () => {
    const id = await upload('diary.txt', 'A wombat called Quillemont lives here.')
    expect(await found('Quillemont')).toContain('A wombat')
    const { workspace_id } =
      gateway.database.file
        .query<Record<string, string>, [string]>('SELECT workspace_id FROM files WHERE id = ?')
        .get(id) ?? {}
    const path = join(gateway.folder, 'file-index', `${workspace_id}.db`)
    const bytes = (): string =>
      ['', '-wal'].map((end) => (existsSync(path + end) ? readFileSync(path + end, 'latin1') : '')).join('')
    expect(bytes()).toContain('Quillemont')
    const deleted = await fetch(`${gateway.url}/api/v1/files/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${API_KEY}` },
    })
    expect(deleted.status).toBe(200)
    expect(await found('Quillemont')).toContain('The search found nothing.')
    expect(bytes().toLowerCase()).not.toContain('quillemont')
  })
})

test('parameters that are wrong are a 400 with their place', async () => {
  const AT = 'tools[0].parameters'
  for (const [parameters, sentence] of [
    [{ file_ids: ['vs_1'] }, `${AT}.file_ids[0]: must be the id of an uploaded file (file_…)`],
    [{ file_ids: [] }, `${AT}.file_ids: must have 1 to 1000 ids`],
    [{ max_num_results: 51 }, `${AT}.max_num_results: must be a whole number from 1 to 50`],
    [{ ranking_options: { score_threshold: 2 } }, `${AT}.ranking_options.score_threshold: must be a number`],
    [{ ranking_options: { ranker: 'best' } }, `${AT}.ranking_options.ranker: must be one of auto`],
    [{ filters: { type: 'eq', key: 'author', value: 'x' } }, `${AT}.filters.key: must be one of filename`],
    [{ filters: { type: 'and', filters: [{}] } }, `${AT}.filters.filters[0].key: must be one of`],
    [{ filters: { type: 'like', key: 'filename', value: 'x' } }, `${AT}.filters.type: must be one of eq`],
    [{ filters: { type: 'gt', key: 'size_bytes', value: 'x' } }, `${AT}.filters.value: must be a number`],
    [
      { embedding: 'x' },
      `${AT}.embedding: is not a parameter of this tool; it has vector_store_ids, file_ids`,
    ],
  ] as const) {
    const response = await gateway.call('/chat/completions', ask({ tools: toolOf(parameters) }))
    expect(response.status).toBe(400)
    expect(await messageOf(response)).toContain(sentence)
  }
  expect(objectsIn(upstream.seen).filter(isObject)).toHaveLength(0)
})
