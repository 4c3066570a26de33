import { expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { startUpstream, unary } from '../upstream.ts'

/** GET /endpoints/health, and the line that the log has for each change. */

const AT = Date.parse('2026-11-20T12:00:00Z')
let now = AT
const upstream = startUpstream()
const logged: string[] = []
const MODELS = ['lab', 'locked', 'busy'].map((slug) => `${slug}-tiny`)
const entry = (slug: string) => ({
  slug,
  name: slug.toUpperCase(),
  base_url: `${upstream.baseUrl}/${slug}`,
  api_key: `secret-of-${slug}`,
  models: [{ id: `${slug}-tiny`, pricing: { prompt: '0.000001', completion: '0.000002' } }],
})
const gateway = await gatewayOfFile(
  {
    now: () => now,
    providers: ['lab', 'locked', 'busy'].map(entry),
    log: (line) => logged.push(line),
  },
  upstream,
)
gateway.deps.run.wait = async () => undefined
gateway.deps.run.random = () => 0.5

const answer = (reply: Parameters<typeof upstream.on>[1]): void => {
  for (const model of MODELS) upstream.on(model, reply)
}
const ask = async (model: string): Promise<number> => {
  const body = { model, messages: [{ role: 'user', content: 'Hi' }] }
  return (await gateway.call('/chat/completions', body)).status
}
const listed = async (): Promise<unknown> =>
  objectOf(await (await gateway.manage('GET', '/endpoints/health')).json())['data']
const lines = (): unknown[] =>
  logged.flatMap((line) => {
    const { endpoint, msg } = objectOf(JSON.parse(line))
    return endpoint === undefined || msg === 'attempt' ? [] : [msg]
  })

test('endpoints that fail are listed with state, cause and the next probe, until they answer', async () => {
  expect(await listed()).toEqual([])
  const fail = (status: number, headers = {}) =>
    answer(() => Response.json({ error: { message: 'sk-secret' } }, { status, headers }))
  fail(503)
  for (let turn = 0; turn < 3; turn++) expect(await ask('lab-tiny')).toBe(502)
  fail(401)
  expect(await ask('locked-tiny')).toBe(502)
  fail(429, { 'retry-after': '20' })
  expect(await ask('busy-tiny')).toBe(429)
  const item = (slug: string, more: object) => ({
    endpoint: `${slug}/${slug}-tiny`,
    model: `${slug}-tiny`,
    provider: slug,
    provider_name: slug.toUpperCase(),
    credential: expect.any(String),
    byok_key_id: null,
    since: '2026-11-20T12:00:00.000Z',
    failures: 0,
    successes: 0,
    ...more,
  })
  const rows = [
    item('lab', {
      state: 'failing',
      cause: 'LAB (lab-tiny) answers with errors (HTTP 503)',
      next_probe_at: expect.stringMatching(/^2026-11-20T12:00:0[01]/),
      failures: 4,
    }),
    item('locked', {
      state: 'refused',
      cause: expect.stringMatching(/^LOCKED rejected the credential .+ \(HTTP 401\)$/),
      next_probe_at: '2026-11-20T12:10:00.000Z',
    }),
    item('busy', {
      state: 'rate_limited',
      cause: 'the rate limit of BUSY (busy-tiny) is reached',
      next_probe_at: '2026-11-20T12:00:20.000Z',
    }),
  ]
  expect(await listed()).toEqual(rows)
  now += 1_000
  answer(unary('Hello'))
  expect(await ask('lab-tiny')).toBe(200)
  expect(await listed()).toEqual(rows.slice(1))
  expect(lines()).toEqual([
    'LAB (lab-tiny) answers with errors (HTTP 503); it is skipped and probed until it answers',
    expect.stringContaining('it is not used for 10 minutes. Replace it, or grant it access at the provider'),
    'the rate limit of BUSY (busy-tiny) is reached; it is skipped until the limit ends',
    'LAB (lab-tiny) answers again',
  ])
  expect(JSON.stringify([rows, logged])).not.toContain('sk-secret')
})

test('only management keys may read it', async () => {
  expect((await gateway.call('/endpoints/health')).status).toBe(403)
})
