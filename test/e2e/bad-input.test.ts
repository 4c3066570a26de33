import { afterEach, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/core/events.ts'
import { MAX_JSON_DEPTH } from '../../src/core/json-bounds.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { startUpstream, unary } from '../upstream.ts'
import { IMAGES } from './bad-input-images.ts'
import { CONTRADICTIONS, PATHS, RESULTS, type Row, UNKNOWN } from './bad-input-rows.ts'

/** Every API rejects an invalid request with the status and the place in its own form, before a provider is called. */

const upstream = startUpstream()
upstream.on('tiny', unary('Hello'))
const lab = (slug: string, dialect: string, id: string) => ({
  slug,
  dialect,
  base_url: upstream.baseUrl,
  models: [{ id, upstream_id: 'tiny', pricing: { prompt: '0.000001', completion: '0.000002' } }],
})
const gateway = await gatewayOfFile(
  {
    providers: [
      lab('plain', 'chat', 'tiny'),
      lab('claude', 'messages', 'tiny-claude'),
      lab('google', 'gemini', 'tiny-gemini'),
      lab('open', 'responses', 'tiny-o'),
    ],
  },
  upstream,
)
afterEach(() => {
  upstream.seen.length = 0
})

async function expectRefusal(
  response: Response,
  { path, status = 400, says }: Pick<Row, 'path' | 'status' | 'says'>,
): Promise<void> {
  const body = await response.json()
  expect([response.status, body.error.message]).toEqual([status, expect.stringContaining(says)])
  expect(body.error.message.indexOf(says)).toBe(0)
  if (path === '/messages') {
    const type = { 404: 'not_found_error', 413: 'request_too_large' }[status] ?? 'invalid_request_error'
    expect(body).toMatchObject({ type: 'error', error: { type } })
  } else expect(body.error.code).toBe(status)
  expect(upstream.seen).toEqual([])
  expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
}

describe.each([
  ['contradicting fields', CONTRADICTIONS],
  ['unknown types', UNKNOWN],
  ['results of tool calls', RESULTS],
  ['data that is not an image', IMAGES],
] as const)('%s are rejected', (_, rows) => {
  // The provider makes no difference.
  const models = ['tiny', 'tiny-claude', 'tiny-gemini', 'tiny-o']
  test.each(rows.map((each) => [each.what, each.path, each] as const))('%s, by %s', async (_, path, bad) => {
    for (const model of models) {
      await expectRefusal(await gateway.call(path, { model, ...bad.body }), bad)
      // A stream is rejected before it begins.
      await expectRefusal(await gateway.call(path, { model, ...bad.body, stream: true }), bad)
    }
  })
})

describe('a conversation of another workspace', () => {
  const gone = 'previous_response_id: there is no stored response with this id'

  test('is not found, as an id that never existed', async () => {
    const made = await gateway.manage('POST', '/workspaces', { name: 'Other', slug: 'other' })
    const { data } = await made.json()
    const { key } = await gateway.makeKey({ workspace_id: data.id })
    const first = await gateway.call('/responses', { model: 'tiny', input: 'Hi', store: true })
    const { id } = await first.json()
    upstream.seen.length = 0
    const ask = (previous_response_id: string, headers: Record<string, string>, more: JsonObject = {}) =>
      gateway.call('/responses', { model: 'tiny', input: 'And?', previous_response_id, ...more }, headers)
    const foreign = { authorization: `Bearer ${key}` }
    for (const more of [{}, { stream: true }, { background: true }]) {
      await expectRefusal(await ask(id, foreign, more), { path: '/responses', status: 404, says: gone })
      await expectRefusal(await ask('resp_never', {}, more), { path: '/responses', status: 404, says: gone })
    }
    const shown = await gateway.call(`/responses/${id}`, undefined, foreign)
    expect(shown.status).toBe(404)
    expect((await ask(id, {})).status).toBe(200)
  })
})

describe('an unreadable body', () => {
  const deep = '['.repeat(MAX_JSON_DEPTH + 1) + ']'.repeat(MAX_JSON_DEPTH + 1)
  const rows: readonly (readonly [what: string, body: string, status: number, says: string])[] = [
    [
      '21 MB',
      `{"model":"tiny","input":"${'x'.repeat(21_000_000)}"}`,
      413,
      'The request body is larger than 20 MB',
    ],
    ['too deep', `{"model":"tiny","x":${deep}}`, 400, 'The request body is nested deeper than 64 levels'],
    ['cut off', '{"model":"tiny"', 400, 'The request body is malformed JSON'],
    ['a list', '[]', 400, 'The request body must be a JSON object, not an array'],
    ['nothing', '', 400, 'The request body is empty'],
  ]
  test.each(PATHS.flatMap((path) => rows.map((each) => [each[0], path, each] as const)))(
    '(%s) is rejected by %s',
    async (_, path, [, body, status, says]) => {
      await expectRefusal(await gateway.call(path, body), { path, status, says })
    },
  )
})
