import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Value } from '@sinclair/typebox/value'
import { parseBenchmarks } from '../../src/catalog/benchmarks.ts'
import { modelList } from '../../src/catalog/schema.ts'
import { isJsonObject, objectOf } from '../../src/http/json.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { providers } from './fixture.ts'

let gateway: Gateway
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-scores-'))
  const file = join(folder, 'scores.json')
  writeFileSync(
    file,
    JSON.stringify({
      'maker/small': {
        intelligence_index: 20,
        coding_index: 40,
        design_arena_elo: 1_100,
        tool_success_rate: 0.9,
      },
      'shared/large': {
        intelligence_index: 50,
        agentic_index: 30,
        categories: ['programming', 'marketing/seo'],
      },
      'speaker/llama-9-voice': { intelligence_index: 0, coding_index: 50, design_arena_elo: 1_200 },
      'nobody/has-it': { intelligence_index: 99 },
    }),
  )
  gateway = await startGateway({ providers, environment: { SLUICE_BENCHMARKS: file } })
})
afterAll(async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true })
})

const listOf = async (query: string): Promise<Record<string, unknown>[]> => {
  const body = objectOf(await (await gateway.call(`/models?${query}`)).json())
  expect([...Value.Errors(modelList, body)]).toEqual([])
  return Array.isArray(body['data']) ? body['data'].filter(isJsonObject) : []
}
const ids = async (query: string): Promise<string> => (await listOf(query)).map(({ id }) => id).join(' ')

const rows: [query: string, ids: string][] = [
  ['sort=intelligence-high-to-low', 'shared/large maker/small speaker/llama-9-voice bare sluice/demo'],
  ['sort=coding-high-to-low', 'speaker/llama-9-voice maker/small bare shared/large sluice/demo'],
  ['sort=agentic-high-to-low', 'shared/large bare maker/small sluice/demo speaker/llama-9-voice'],
  ['sort=design-arena-elo-high-to-low', 'speaker/llama-9-voice maker/small bare shared/large sluice/demo'],
  ['min_intelligence_index=0', 'maker/small shared/large speaker/llama-9-voice'],
  ['min_intelligence_index=20', 'maker/small shared/large'],
  ['max_intelligence_index=20', 'maker/small speaker/llama-9-voice'],
  ['min_intelligence_index=20&max_intelligence_index=20', 'maker/small'],
  ['min_coding_index=41', 'speaker/llama-9-voice'],
  ['min_agentic_index=1', 'shared/large'],
  ['max_agentic_index=29', ''],
  ['min_tool_success_rate=0.9', 'maker/small'],
  ['min_tool_success_rate=0.91', ''],
  ['category=programming', 'shared/large'],
  ['category=marketing/seo', 'shared/large'],
  ['category=marketing', ''],
  // In pairs.
  ['min_intelligence_index=1&sort=pricing-high-to-low', 'shared/large maker/small'],
  ['min_coding_index=1&min_agentic_index=1', ''],
  ['category=programming&providers=cloud', 'shared/large'],
  ['category=programming&max_price=1', ''],
]
describe('scores of the data file', () => {
  for (const [query, expected] of rows) {
    test(`?${query}`, async () => expect(await ids(query)).toBe(expected))
  }

  test('are shown for models that have any', async () => {
    const [small] = await listOf('q=small')
    expect(small?.['benchmarks']).toEqual({
      artificial_analysis: { intelligence_index: 20, coding_index: 40, agentic_index: null },
      design_arena: [],
      design_arena_elo: 1_100,
      tool_success_rate: 0.9,
    })
    expect((await listOf('q=bare'))[0]?.['benchmarks']).toBeUndefined()
  })
})

describe('a data file that is wrong', () => {
  test('reports problems with their paths', () => {
    const { problems } = parseBenchmarks(
      {
        a: {
          intelligence_index: -1,
          tool_success_rate: 1.1,
          coding_index: '4',
          iq: 1,
          categories: ['cooking'],
        },
        b: 7,
      },
      'scores.json',
    )
    expect(problems.map(({ path }) => path)).toEqual([
      'scores.json "a".intelligence_index',
      'scores.json "a".tool_success_rate',
      'scores.json "a".coding_index',
      'scores.json "a".iq',
      'scores.json "a".categories',
      'scores.json "b"',
    ])
    expect(parseBenchmarks([], 'scores.json').problems).toMatchObject([{ path: 'scores.json' }])
  })

  test('stops the start', async () => {
    const start = (SLUICE_BENCHMARKS: string) => startGateway({ environment: { SLUICE_BENCHMARKS } })
    await expect(start('/nowhere/scores.json')).rejects.toThrow(
      'SLUICE_BENCHMARKS /nowhere/scores.json cannot be read',
    )
  })
})
