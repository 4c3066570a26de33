import { describe, expect, test } from 'bun:test'
import { gatewayOfFile, labOf } from '../file-setup.ts'
import { startUpstream, unary } from '../upstream.ts'

/** Log levels that change while the server runs. */

const MINUTE_MS = 60_000
const START = Date.UTC(2026, 10, 23, 8)
let now = START
const lines: Record<string, unknown>[] = []
const upstream = startUpstream()
upstream.on('m', unary('Hello'))
const gateway = await gatewayOfFile(
  {
    now: () => now,
    log: (line) => lines.push(JSON.parse(line)),
    providers: [labOf(upstream, [{ id: 'm', pricing: { prompt: '0', completion: '0' } }])],
  },
  upstream,
)

const set = async (levels: object): Promise<Record<string, { level: string; until: string | null }>> => {
  const response = await gateway.manage('PATCH', '/organization/logging', levels)
  expect(response.status).toBe(200)
  return (await response.json()).data.areas
}
const areas = async () => (await (await gateway.manage('GET', '/organization/logging')).json()).data.areas
const ask = async (): Promise<void> => {
  lines.length = 0
  const body = { model: 'm', messages: [{ role: 'user', content: 'a secret of the prompt' }] }
  expect((await gateway.call('/chat/completions', body)).status).toBe(200)
}
const messages = () => lines.map(({ msg }) => msg)

describe('levels by area', () => {
  test('are those of the settings until they are changed', async () => {
    // The log of a test gateway has the lowest level.
    expect(await areas()).toMatchObject({
      requests: { level: 'trace', until: null },
      server: { level: 'trace', until: null },
    })
  })

  test('silence and open one area alone, from the next line on', async () => {
    await set({ requests: 'error', providers: 'info' })
    await ask()
    expect(messages()).toEqual([])
    await set({ requests: 'info', providers: 'debug' })
    await ask()
    expect(messages().sort()).toEqual(['attempt', 'request'])
  })

  test('a line of an attempt names the endpoint and the trace, and holds no prompt', async () => {
    await set({ providers: 'debug' })
    await ask()
    const attempt = lines.find(({ msg }) => msg === 'attempt')
    const request = lines.find(({ msg }) => msg === 'request')
    expect(attempt).toMatchObject({
      area: 'providers',
      level: 20,
      endpoint: 'lab/m',
      provider: 'lab',
      status: 200,
    })
    for (const id of ['trace_id', 'request_id', 'generation_id']) expect(attempt?.[id]).toBe(request?.[id])
    expect(JSON.stringify(lines)).not.toContain('secret')
  })

  test('end by themselves after an hour; null ends them at once', async () => {
    now = START
    const changed = await set({ ledger: 'fatal', bodies: 'warn' })
    expect(changed['ledger']).toEqual({ level: 'fatal', until: '2026-11-23T09:00:00.000Z' })
    now += 59 * MINUTE_MS
    expect((await set({ bodies: null }))['bodies']).toEqual({ level: 'trace', until: null })
    expect((await areas()).ledger.level).toBe('fatal')
    now += 2 * MINUTE_MS
    lines.length = 0
    expect((await areas()).ledger).toEqual({ level: 'trace', until: null })
    expect(lines).toContainEqual(
      expect.objectContaining({
        msg: 'the log levels of these areas are back to SLUICE_LOG_LEVEL',
        areas: expect.arrayContaining(['ledger']),
      }),
    )
  })

  test('each change is in the audit log', async () => {
    await set({ server: 'warn' })
    const { data } = await (
      await gateway.manage('GET', '/audit-log?action=organization.change_logging&limit=1')
    ).json()
    expect(data[0]).toMatchObject({
      action: 'organization.change_logging',
      before: { server: 'trace' },
      after: { server: 'warn' },
    })
    await set({ server: null })
  })
})
