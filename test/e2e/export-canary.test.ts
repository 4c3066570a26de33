import { beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ExportSettings } from '../../src/delivery/records.ts'
import type { DestinationType } from '../../src/exporters/destination-types.ts'
import { KINDS } from '../../src/exporters/kinds/index.ts'
import type { ExportRecord } from '../../src/exporters/record.ts'
import { CONFIGS } from '../exporters/configs.ts'
import { contextFor } from '../exporters/records.ts'
import { chunk, sse } from '../upstream.ts'
import { startForExport } from './export-setup.ts'

/**
 * Unique words in everything that a request and its answer have. With `privacy_mode` none of them reaches a destination of
 * any kind; keys, credentials and headers never do. None is in the log, in metrics, or on disk in clear.
 */

const mark = (what: string): string => `cAnArY${Buffer.from(what).toString('hex')}zzz`
const CONTENT = {
  prompt: mark('prompt'),
  system: mark('system'),
  answer: mark('answer'),
  reasoning: mark('reasoning'),
  arguments: mark('arguments'),
  tool: mark('tool'),
  fileName: mark('file-name'),
  file: mark('file'),
  stop: mark('stop'),
}
const SECRET = {
  header: mark('header'),
  cookie: mark('cookie'),
  baggage: mark('baggage'),
  credential: mark('credential'),
  ownHeader: mark('own-header'),
}
const ERRORS = { message: mark('error'), code: mark('code'), rejection: mark('rejection') }
let key = ''

const lines: string[] = []
const model = (id: string) => ({ id, pricing: { prompt: '0', completion: '0' } })
const { gateway, upstream, makeDestination, entries, readRecords } = await startForExport({
  more: [
    {
      slug: 'guarded',
      dialect: 'chat',
      api_key: SECRET.credential,
      models: ['speaks', 'fails', 'rejects', 'breaks'].map(model),
    },
  ],
  log: (line) => lines.push(line),
})

const called = {
  index: 0,
  id: 'c1',
  function: { name: CONTENT.tool, arguments: `{"a":"${CONTENT.arguments}"}` },
}
const begins = [
  chunk({ role: 'assistant', reasoning: CONTENT.reasoning }),
  chunk({ content: CONTENT.answer }),
]
upstream.on('speaks', () =>
  sse([...begins, chunk({ tool_calls: [called] }, 'tool_calls'), 'data: [DONE]\n\n']),
)
upstream.on('breaks', () => sse(begins))
upstream.on('fails', ({ headers }) =>
  Response.json(
    { error: { message: `${ERRORS.message} ${headers.get('authorization')}`, code: ERRORS.code } },
    { status: 500 },
  ),
)
upstream.on('rejects', () =>
  Response.json({ error: { message: ERRORS.rejection, code: ERRORS.code } }, { status: 400 }),
)

const bodyFor = (name: string) => ({
  model: `guarded/${name}`,
  stream: true,
  stop: [CONTENT.stop],
  tools: [{ type: 'function', function: { name: CONTENT.tool, parameters: { type: 'object' } } }],
  messages: [
    { role: 'system', content: CONTENT.system },
    {
      role: 'user',
      content: [
        { type: 'text', text: CONTENT.prompt },
        {
          type: 'file',
          file: {
            filename: `${CONTENT.fileName}.txt`,
            file_data: `data:text/plain;base64,${Buffer.from(CONTENT.file).toString('base64')}`,
          },
        },
      ],
    },
  ],
})

async function ask(name: string): Promise<void> {
  const reply = await gateway.call('/chat/completions', bodyFor(name), {
    authorization: `Bearer ${key}`,
    'x-own': SECRET.ownHeader,
    'x-canary': SECRET.header,
    cookie: `session=${SECRET.cookie}`,
    baggage: `secret=${SECRET.baggage}`,
  })
  await reply.text()
}

beforeAll(async () => {
  key = (await gateway.makeKey({ name: 'a key' })).key
  await makeDestination()
  for (const name of ['speaks', 'breaks', 'fails', 'rejects']) await ask(name)
  await gateway.deps.exportContents.close()
})

const all = (): string[] => [...Object.values(CONTENT), ...Object.values(ERRORS), ...secrets()]
const secrets = (): string[] => [...Object.values(SECRET), key]

/** Which of the words are in a text, in clear or in an encoding. */
function leaksIn(text: string, words: readonly string[]): string[] {
  return words.filter((word) => {
    const bytes = Buffer.from(word)
    const inner = [0, 1, 2].map((shift) =>
      Buffer.concat([Buffer.alloc(shift), bytes])
        .toString('base64')
        .slice(4, -4),
    )
    return [word, bytes.toString('hex'), encodeURIComponent(word), ...inner].some((form) =>
      text.includes(form),
    )
  })
}

const recordsWith = async (settings: Partial<ExportSettings>): Promise<ExportRecord[]> =>
  (await readRecords(entries(), settings)).filter(
    (outcome): outcome is ExportRecord => typeof outcome === 'object' && outcome !== null,
  )

const types = Object.keys(CONFIGS).filter((type): type is DestinationType => type in KINDS)
async function bytesFor(type: DestinationType, records: readonly ExportRecord[]): Promise<string> {
  const calls = await KINDS[type].batchOf(records, contextFor(CONFIGS[type]))
  return calls
    .map(({ url, headers, body }) => {
      const bytes = Buffer.from(body)
      const text = bytes[0] === 0x1f && bytes[1] === 0x8b ? Buffer.from(Bun.gunzipSync(bytes)) : bytes
      return `${url}\n${JSON.stringify(headers)}\n${text.toString('latin1')}`
    })
    .join('\n')
}

describe('records', () => {
  test('with privacy_mode have none of them', async () => {
    const records = await recordsWith({ privacyMode: true })
    expect(records.map(({ model: id, truth }) => [id, truth])).toEqual([
      ['speaks', 'estimated'],
      ['breaks', 'truncated'],
      ['fails', 'failed'],
      ['rejects', 'failed'],
    ])
    expect(leaksIn(JSON.stringify(records), all())).toEqual([])
  })

  test('have prompts and answers without it, and no secret', async () => {
    const text = JSON.stringify(await recordsWith({}))
    const { prompt, system, answer, arguments: given, tool, fileName, stop } = CONTENT
    const seen = [prompt, system, answer, given, tool, fileName, stop]
    expect(leaksIn(text, seen)).toEqual(seen)
    expect(leaksIn(text, [...secrets(), CONTENT.file, ERRORS.message, ERRORS.code])).toEqual([])
  })
})

test('there are records for all kinds', () => expect(types.length).toBe(17))

describe.each(types)('%s', (type) => {
  test('is sent none of them with privacy_mode, and no secret without it', async () => {
    const withheld = await bytesFor(type, await recordsWith({ privacyMode: true }))
    expect(withheld.length).toBeGreaterThan(100)
    expect(leaksIn(withheld, all())).toEqual([])
    expect(leaksIn(await bytesFor(type, await recordsWith({})), secrets())).toEqual([])
  })
})

test('the log and metrics have none of them', async () => {
  const metrics = await (await gateway.call('/metrics')).text()
  const scraped = await (await gateway.manage('GET', '/metrics')).text()
  expect(lines.length).toBeGreaterThan(3)
  expect(leaksIn(metrics + scraped, all())).toEqual([])
  // The operator reads in the log why a provider failed, without what it repeats of the request.
  const words = all().filter((word) => word !== ERRORS.message && word !== ERRORS.code)
  expect(leaksIn(lines.join('\n'), words)).toEqual([])
})

test('no file has one in clear', () => {
  for (const { file } of [gateway.database, gateway.bodies]) file.run('PRAGMA wal_checkpoint(PASSIVE)')
  const files = readdirSync(gateway.folder, { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  )
  expect(files.length).toBeGreaterThan(3)
  for (const { parentPath, name } of files) {
    const text = readFileSync(join(parentPath, name)).toString('latin1')
    // The ledger has the codes of failed attempts, and the outbox parameters for a destination with content.
    const words = all().filter((word) => word !== CONTENT.stop && word !== ERRORS.code)
    expect([name, leaksIn(text, words)]).toEqual([name, []])
  }
  expect(gateway.bodies.file.query('SELECT 1 FROM export_contents').all().length).toBe(4)
})
