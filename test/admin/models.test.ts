import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { scheduleRefresh } from '../../src/admin/providers/models/schedule.ts'
import { openCatalogStore } from '../../src/catalog/store.ts'
import { objectOf } from '../../src/http/json.ts'
import { before, document, factModel } from '../catalog/facts-fixture.ts'
import { type Gateway, startGateway } from '../gateway.ts'

let gateway: Gateway
let now: number
let facts: Bun.Server<undefined>
let served: () => Response

const T0 = Date.parse('2027-02-01T00:00:00Z')
const DAY = 86_400_000

beforeAll(() => {
  facts = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => served() })
})
afterAll(() => facts.stop(true))
beforeEach(async () => {
  now = T0
  served = () => Response.json(before)
  gateway = await startGateway({
    environment: {
      OPENAI_API_KEY: 'k',
      SLUICE_MODELS_URL: `http://127.0.0.1:${facts.port}/api.json`,
    },
    now: () => now,
  })
})
afterEach(() => gateway.stop())

const refresh = async (body: unknown): Promise<Record<string, unknown>> => {
  const response = await gateway.manage('POST', '/models/refresh', body)
  const reply = objectOf(await response.json())
  return { status: response.status, ...objectOf(reply['data'] ?? reply['error']) }
}
const promptOf = async (model: string): Promise<unknown> => {
  const response = await gateway.call(`/model/${model}`)
  if (response.status !== 200) return response.status
  return objectOf(objectOf(objectOf(await response.json())['data'])['pricing'])['prompt']
}
const cheaper = document({
  openai: [factModel('gpt-4o', { cost: { input: 1, output: 2 } }), factModel('gpt-9')],
})

describe('POST /models/refresh', () => {
  test('is recorded with the former value in the audit log; without an override nothing changes', async () => {
    const own = await (await gateway.manage('GET', '/models/refresh')).json()
    const { file } = gateway.database
    file.run("CREATE TRIGGER full BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'full'); END")
    expect(await refresh({ document: cheaper })).toMatchObject({ status: 500 })
    expect(await (await gateway.manage('GET', '/models/refresh')).json()).toEqual(own)
    expect(await promptOf('openai/gpt-4o')).not.toBe('0.000001')
    file.run('DROP TRIGGER full')
    expect(await refresh({ document: cheaper })).toMatchObject({ status: 200, applied: true })
    expect(await promptOf('openai/gpt-4o')).toBe('0.000001')
    const log = objectOf(await (await gateway.manage('GET', '/audit-log')).json())
    expect(log['data']).toMatchObject([
      {
        action: 'catalog.refresh',
        before: { source: 'built-in', facts_at: objectOf(objectOf(own)['data'])['facts_at'] },
        after: { source: 'a document', facts_at: '2027-01-01' },
      },
    ])
  })

  test('a dry run shows and changes nothing', async () => {
    const shown = await refresh({ document: cheaper, dry_run: true })
    expect(shown).toMatchObject({
      status: 200,
      applied: false,
      unchanged: false,
      source: 'a document',
      facts_at: '2027-01-01',
      added: [{ provider: 'openai', model: 'openai/gpt-9' }],
    })
    expect(shown['price_changes']).toContainEqual({
      provider: 'openai',
      model: 'openai/gpt-4o',
      before: {
        prompt: '0.0000025',
        completion: '0.00001',
        input_cache_read: '0.00000125',
        service_tiers: {
          priority: { prompt: '0.00000425', completion: '0.000017', input_cache_read: '0.000002125' },
        },
      },
      after: {
        prompt: '0.000001',
        completion: '0.000002',
        service_tiers: { priority: { prompt: '0.0000017', completion: '0.0000034' } },
      },
    })
    expect(await promptOf('openai/gpt-4o')).toBe('0.0000025')
    expect(await promptOf('openai/gpt-9')).toBe(404)
  })

  test('the next request sees the applied changes, and so does the next start', async () => {
    const { digest } = await refresh({ document: cheaper, dry_run: true })
    expect(await refresh({ document: cheaper, digest })).toMatchObject({ status: 200, applied: true })
    expect(await promptOf('openai/gpt-4o')).toBe('0.000001')
    expect(await promptOf('openai/gpt-9')).toBe('0.0000025')
    const kept = openCatalogStore(gateway.folder, () => undefined).current()
    expect(kept.refreshed?.refreshedAt).toBe(T0)
    expect(await refresh({ document: cheaper })).toMatchObject({ unchanged: true })
    const inUse = await (await gateway.manage('GET', '/models/refresh')).json()
    expect(inUse).toEqual({
      data: {
        source: 'a document',
        facts_at: '2027-01-01',
        refreshed_at: '2027-02-01T00:00:00.000Z',
        // The document's three, and OpenAI's models of sound and images, of which documents say nothing.
        models: kept.catalog.models.length,
        endpoints: kept.catalog.models.length,
      },
    })
  })

  test('the former metadata is known by name, and the built-in metadata can be restored', async () => {
    await refresh({ document: cheaper })
    const gone = await gateway.call('/model/openai/gpt-4o-mini')
    expect(await gone.text()).toContain('is known, but no provider that offers it is configured')
    expect(await refresh({ from: 'built-in' })).toMatchObject({ status: 200, source: 'built-in' })
    expect(await promptOf('openai/gpt-4o-mini')).toBe('0.00000015')
  })

  test('its prices are recorded with the time from which they applied', async () => {
    now += DAY
    await refresh({ document: cheaper })
    now += DAY
    await refresh({ document: cheaper })
    const reply = await (await gateway.call('/models/openai/gpt-4o/prices')).json()
    expect(reply).toMatchObject({
      data: {
        id: 'openai/gpt-4o',
        providers: [
          {
            provider: 'openai',
            prices: [
              { from: '2027-02-01T00:00:00.000Z', pricing: { prompt: '0.0000025' } },
              { from: '2027-02-02T00:00:00.000Z', pricing: { prompt: '0.000001', completion: '0.000002' } },
            ],
          },
        ],
      },
    })
  })

  test('the prices of a time explain a generation of that time', async () => {
    now += DAY
    await refresh({ document: cheaper })
    const promptAt = async (at: string): Promise<unknown> => {
      const reply = await (await gateway.call(`/models/openai/gpt-4o/prices?at=${at}`)).json()
      const { providers } = objectOf(objectOf(reply)['data'])
      return Array.isArray(providers)
        ? providers.map((one) =>
            one.prices.map((price: { pricing: { prompt: string } }) => price.pricing.prompt),
          )
        : reply
    }
    expect(await promptAt('2027-02-01T23:59:59Z')).toEqual([['0.0000025']])
    expect(await promptAt('2027-02-02T00:00:00Z')).toEqual([['0.000001']])
    expect(await promptAt('2027-01-31T00:00:00Z')).toEqual([])
    expect((await gateway.call('/models/openai/gpt-4o/prices?at=yesterday')).status).toBe(400)
    expect((await gateway.call('/models/openai/gpt-4o/prices?at=2027-02-30T00:00:00Z')).status).toBe(400)
  })

  test('facts come from the address of the settings, or from the one that is named', async () => {
    expect(await refresh({ dry_run: true })).toMatchObject({
      source: `http://127.0.0.1:${facts.port}/api.json`,
    })
    served = () => Response.json(cheaper)
    const from = `http://127.0.0.1:${facts.port}/api.json`
    expect(await refresh({ from })).toMatchObject({ source: from, applied: true })
    expect(await promptOf('openai/gpt-4o')).toBe('0.000001')
    // An address of the settings is the operator's word; any other one must be public.
    expect(await refresh({ from: `http://127.0.0.1:${facts.port}/other.json` })).toMatchObject({
      status: 400,
    })
  })

  const page = () => new Response('<html>down</html>', { headers: { 'content-type': 'text/html' } })
  test.each<[what: string, serve: () => Response, status: number, says: RegExp]>([
    ['an error', () => new Response('{}', { status: 503 }), 502, /No facts came from http.*HTTP 503/],
    ['a page', page, 502, /does not answer with JSON\. The catalogue stays as it is/],
    ['half a document', () => new Response('{"openai": {'), 502, /does not answer with JSON/],
    [
      'another shape',
      () => Response.json({ data: [] }),
      400,
      /The document is rejected.*data\.models must be/,
    ],
    [
      'a negative price',
      () => Response.json(document({ openai: [factModel('m', { cost: { input: -1, output: 1 } })] })),
      400,
      /openai\.models\["m"\]\.cost\.input must be a number of at least 0/,
    ],
  ])('%s in place of facts: the catalogue stays', async (_, serve, status, says) => {
    served = serve
    const refused = await refresh({})
    expect(refused['status']).toBe(status)
    expect(refused['message']).toMatch(says)
    expect(await promptOf('openai/gpt-4o')).toBe('0.0000025')
  })

  test.each<[what: string, body: unknown, status: number, says: RegExp]>([
    [
      'facts that were not shown',
      { document: cheaper, digest: '0'.repeat(64) },
      409,
      /changed since the changes were shown/,
    ],
    ['two sources', { from: 'built-in', document: cheaper }, 400, /^from: cannot be combined with document/],
    ['an unknown field', { source: 'x' }, 400, /^source: is not known here/],
    ['a private address', { from: 'http://10.0.0.1/api.json' }, 400, /^from: /],
    ['a file of the server', { from: 'file:///etc/passwd' }, 400, /^from: /],
  ])('%s: refused', async (_, body, status, says) => {
    const refused = await refresh(body)
    expect(refused['status']).toBe(status)
    expect(refused['message']).toMatch(says)
  })

  test('an inference key may not', async () => {
    expect((await gateway.call('/models/refresh', { document: cheaper })).status).toBe(403)
    expect((await gateway.call('/models/refresh')).status).toBe(403)
  })
})

describe('the schedule', () => {
  const started = (every: 'off' | 'daily' | 'weekly') => {
    const lines: string[] = []
    const record = (_: object, message: string) => void lines.push(message)
    let look = async (): Promise<void> => undefined
    const { stop } = scheduleRefresh({
      ...gateway.deps.refresh,
      every,
      log: { info: record, warn: record, error: record },
      repeat: (given) => {
        look = given
        return () => void lines.push('stopped')
      },
    })
    return { lines, look: () => look(), stop }
  }

  test('off looks at nothing', async () => {
    const { lines, look, stop } = started('off')
    await look()
    stop()
    expect(lines).toEqual([])
  })

  test('refreshes when it is due', async () => {
    // So that little is removed by the facts that are served.
    await refresh({ document: before })
    served = () =>
      Response.json(
        document({
          openai: [factModel('gpt-4o', { cost: { input: 1, output: 2 } }), factModel('gpt-4o-mini')],
          groq: [factModel('openai/gpt-oss-120b')],
        }),
      )
    const { lines, look, stop } = started('daily')
    now += DAY - 1
    await look()
    expect(lines).toEqual([])
    now += 1
    await look()
    expect(lines).toEqual(['the catalogue of models was refreshed'])
    expect(await promptOf('openai/gpt-4o')).toBe('0.000001')
    await look()
    expect(lines.length).toBe(1)
    stop()
    expect(lines.at(-1)).toBe('stopped')
  })

  test('does not apply a document that would remove many models or that fails, and logs both', async () => {
    const { lines, look } = started('weekly')
    await look()
    expect(lines.at(-1)).toContain('would remove many models')
    served = () => new Response('', { status: 500 })
    await look()
    expect(lines.length).toBe(1)
    now += DAY
    await look()
    expect(lines.at(-1)).toContain('was not refreshed: No facts came from')
    expect(await promptOf('openai/gpt-4o')).toBe('0.0000025')
  })
})
