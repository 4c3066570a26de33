import { expect } from 'bun:test'
import type { ExportStores } from '../../src/delivery/export-stores.ts'
import { createOutboxReader, type OutboxEntry } from '../../src/delivery/outbox-reader.ts'
import { createRecentRows } from '../../src/delivery/recent-rows.ts'
import { type ExportSettings, recordsOf } from '../../src/delivery/records.ts'
import type { ExportRecord } from '../../src/exporters/record.ts'
import { objectOf } from '../../src/http/json.ts'
import { gatewayOfFile } from '../file-setup.ts'
import type { GatewayOptions } from '../gateway.ts'
import { startUpstream } from '../upstream.ts'

/** Takes everything, with content. */
const ALL: ExportSettings = {
  workspaceId: null,
  privacyMode: false,
  samplingRate: 1,
  apiKeyHashes: null,
  regions: ['global'],
  filterRules: null,
  cost: true,
  identity: true,
  requestContext: true,
}

interface ExportOptions extends Partial<GatewayOptions> {
  /** Further entries of providers, at the same upstream. */
  more?: readonly object[]
}

/** A gateway with the providers `lab` and `spare` of the models `tiny` and `m`, and no destination. */
export async function startForExport({ more = [], ...options }: ExportOptions = {}) {
  const upstream = startUpstream()
  // What waits for a destination that is always busy stays in the outbox.
  const busy = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(null, { status: 503 }) })
  const provider = (slug: string) => ({
    slug,
    dialect: 'chat',
    base_url: upstream.baseUrl,
    models: [
      {
        id: 'lab/tiny',
        upstream_id: `${slug}-tiny`,
        pricing: { prompt: '0.000001', completion: '0.000002' },
      },
    ],
  })
  const gateway = await gatewayOfFile(
    {
      providers: [
        provider('lab'),
        provider('spare'),
        ...more.map((one) => ({ base_url: upstream.baseUrl, ...one })),
      ],
      ...options,
      environment: { SLUICE_OUTBOUND_ALLOW: '127.0.0.1', ...options.environment },
    },
    upstream,
    { stop: () => busy.stop(true) },
  )
  const sealer = gateway.deps.sealer

  async function makeDestination(fields: object = {}): Promise<string> {
    const reply = await gateway.manage('POST', '/observability/destinations', {
      name: `hook ${crypto.randomUUID()}`,
      type: 'webhook',
      config: { url: `http://127.0.0.1:${busy.port}/in` },
      ...fields,
    })
    const body = objectOf(await reply.json())
    expect([reply.status, body]).toEqual([201, expect.any(Object)])
    return String(objectOf(body['data'])['id'])
  }

  const readOutbox = createOutboxReader(gateway.database)
  const entries = (after = 0): OutboxEntry[] => readOutbox(after, 1000)
  const lastPosition = (): number => entries().at(-1)?.position ?? 0

  /** The records of what `work` settled, for a destination with these settings. */
  async function recordsAfter(work: () => Promise<unknown>, settings: Partial<ExportSettings> = {}) {
    const after = lastPosition()
    await work()
    await gateway.deps.exportContents.close()
    return readRecords(entries(after), settings)
  }

  // Shared, as between the destinations of a gateway.
  const stores: ExportStores = {
    ledger: gateway.database,
    bodies: gateway.bodies,
    sealer,
    readRows: createRecentRows(gateway.database, Date.now),
    drafts: new WeakMap(),
    rules: new WeakMap(),
  }
  const readRecords = (some: readonly OutboxEntry[], settings: Partial<ExportSettings> = {}) =>
    recordsOf(some, { ...ALL, ...settings }, stores)

  return { gateway, upstream, makeDestination, entries, lastPosition, recordsAfter, readRecords }
}

/** The only outcome, which must be a record. */
export function onlyRecord(outcomes: readonly unknown[]): ExportRecord {
  expect(outcomes).toHaveLength(1)
  const [first] = outcomes
  if (!isRecord(first)) throw new Error(`no record: ${String(first)}`)
  return first
}

const isRecord = (outcome: unknown): outcome is ExportRecord => objectOf(outcome)['id'] !== undefined

/** A request of a chat completion. */
export const chatBody = (fields: object = {}) => ({
  model: 'lab/tiny',
  messages: [{ role: 'user', content: 'Hello' }],
  ...fields,
})
