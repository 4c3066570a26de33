import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../../src/app.ts'
import type { Measurements } from '../../src/core/measurements.ts'
import { usageHourly } from '../../src/db/tables.ts'
import { isJsonObject, objectOf } from '../../src/http/json.ts'
import { API_KEY, type Gateway, startGateway } from '../gateway.ts'
import { expected, type Row, rows } from './query-table.ts'
import { DAY, entryOf, models, now, overrides } from './table-facts.ts'
import { childrenOf, parseXml, textOf } from './xml.ts'

/**
 * Every row of the query table of GET /models with every other one: what the list has is compared with a reading of
 * the table that knows nothing of the gateway but the facts.
 */

let gateway: Gateway
let app: (request: Request) => Response | Promise<Response>
let folder: string

const measured = new Map<string, (typeof models)[number]['places'][number]>(
  models.flatMap(({ id, places }) => places.map((place) => [`${place.at}/${id}`, place] as const)),
)
const alike = (value: number | undefined) =>
  value === undefined ? null : { p50: value, p75: value, p90: value, p99: value }
const measurements: Measurements = {
  of(endpoint) {
    const { latency, speed } = measured.get(endpoint) ?? {}
    if (latency === undefined && speed === undefined) return null
    return {
      latencyMs: alike(latency),
      tokensPerSecond: alike(speed),
      uptime5m: null,
      uptime30m: null,
      uptime1d: null,
    }
  },
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-pairs-'))
  const scores = join(folder, 'scores.json')
  writeFileSync(
    scores,
    JSON.stringify(Object.fromEntries(models.map(({ id, scores }) => [id, scores ?? {}]))),
  )
  gateway = await startGateway({
    providers: [entryOf('lab'), entryOf('cloud'), entryOf('euro')],
    models: overrides,
    environment: { SLUICE_BENCHMARKS: scores },
    now: () => now,
  })
  for (const { id, requests } of models) {
    for (const [hour, count] of [
      [now, requests?.today ?? 0],
      [now - 14 * DAY, requests?.twoWeeksAgo ?? 0],
    ] as const) {
      if (count === 0) continue
      gateway.deps.database.sync
        .insert(usageHourly)
        .values({
          hour,
          workspace_id: 'w',
          key_hash: 'k',
          user_id: 'u',
          model: id,
          provider_slug: 'lab',
          provider_name: 'The Lab',
          endpoint_id: 'e',
          is_byok: false,
          requests: count,
        })
        .run()
    }
  }
  app = createApp({ ...gateway.deps, measurements }, '')
})
afterAll(async () => {
  gateway.deps.database.sync.delete(usageHourly).run()
  await gateway.stop()
  rmSync(folder, { recursive: true })
})

async function listed(
  asked: readonly Row[],
): Promise<{ ids: string[]; total: unknown; prices: Map<string, string> }> {
  const query = asked.map(([one]) => one).join('&')
  const response = await app(
    new Request(`http://localhost/api/v1/models?${query}`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    }),
  )
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${query}: ${text}`)
  if (asked.some(([one]) => one.startsWith('use_rss'))) {
    const items = childrenOf(childrenOf(parseXml(text), 'channel')[0], 'item')
    return { ids: items.map((item) => textOf(item, 'guid') ?? ''), total: undefined, prices: new Map() }
  }
  const body = objectOf(JSON.parse(text))
  const data = Array.isArray(body['data']) ? body['data'].filter(isJsonObject) : []
  return {
    ids: data.map(({ id }) => String(id)),
    total: body['total_count'],
    prices: new Map(
      data.map(({ id, pricing }) => [String(id), String(Number(objectOf(pricing)['prompt']) * 1_000_000)]),
    ),
  }
}

async function compare(asked: readonly Row[]): Promise<string[]> {
  const query = asked.map(([one]) => one).join('&')
  const { ids, prices } = expected(asked)
  const has = (name: string): boolean => asked.some(([one]) => one.startsWith(name))
  const from = has('offset') ? 1 : 0
  const shown = ids.slice(from, has('limit') ? from + 2 : undefined)
  const got = await listed(asked)
  expect({ query, ids: got.ids }).toEqual({ query, ids: shown })
  if (got.total === undefined) return ids
  expect({ query, total: got.total }).toEqual({ query, total: ids.length })
  const rounded = (all: Map<string, string>) => shown.map((id) => Number(all.get(id)).toFixed(6))
  expect({ query, prices: rounded(got.prices) }).toEqual({ query, prices: rounded(prices) })
  return ids
}

describe('every parameter', () => {
  const names = Object.keys(rows)
  for (const name of names) {
    test(`${name}: on its own, each value matches some models and leaves out some`, async () => {
      const all = (await compare([])).length
      for (const row of rows[name] ?? []) {
        const ids = await compare([row])
        expect(ids.length).toBeGreaterThan(0)
        const filters = row[1].place !== undefined || row[1].model !== undefined
        if (filters && row[0] !== 'output_modalities=all') expect(ids.length).toBeLessThan(all)
      }
    })

    test(`${name}: with every other one`, async () => {
      for (const other of names.slice(names.indexOf(name) + 1)) {
        for (const left of rows[name] ?? []) {
          for (const right of rows[other] ?? []) await compare([left, right])
        }
      }
    })
  }

  test('is in the table, and the table has every documented parameter', async () => {
    const response = await app(new Request('http://localhost/openapi.json'))
    const { paths } = objectOf(await response.json())
    const { parameters } = objectOf(
      objectOf(objectOf(paths)['/models'] ?? objectOf(paths)['/api/v1/models'])['get'],
    )
    const documented = Array.isArray(parameters)
      ? parameters
          .filter(isJsonObject)
          .filter((one) => one['in'] === 'query')
          .map(({ name: one }) => String(one))
      : []
    expect(documented.toSorted()).toEqual(names.toSorted())
  })
})
