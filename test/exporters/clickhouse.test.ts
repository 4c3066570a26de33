import { describe, expect, test } from 'bun:test'
import { fieldsOf } from '../../src/core/json.ts'
import { clickhouse, createTable } from '../../src/exporters/kinds/clickhouse.ts'
import { differencesOf, recordedCalls } from './comparison.ts'
import { contextFor, fullRecord } from './records.ts'

const FIELDS = {
  host: 'ch.example:8443',
  database: 'default',
  username: 'writer',
  password: 'pass:word',
  table: 'OPENROUTER_TRACES',
}
const context = contextFor(FIELDS)

async function sent(records = [fullRecord()], where = context) {
  const [call, ...more] = await clickhouse.batchOf(records, where)
  if (call === undefined || more.length > 0) throw new Error('not one call')
  return call
}

const parametersOf = (address: string) => Object.fromEntries(new URL(address, 'http://x').searchParams)

/** What the vendor's client sends and we do not, and the other way round. */
const MEANT = {
  'missing: query_id': 'the token names the batch',
  'other: insert_deduplication_token': 'of the batch',
  'extra: database': 'their client leaves `default` out',
}

describe('inserts for ClickHouse', () => {
  test('are those of its own client, but for what is meant', async () => {
    const call = await sent()
    const [recorded] = recordedCalls('clickhouse')
    const differences = differencesOf(parametersOf(recorded?.path ?? ''), parametersOf(call.url))
    expect(differences.sort()).toEqual(Object.keys(MEANT).sort())
    expect(new URL(call.url).origin).toBe('https://ch.example:8443')
    expect(call.headers['authorization']).toBe(recorded?.headers['authorization'] ?? '')
    expect({ method: call.method, gzip: call.gzip }).toMatchObject({ method: recorded?.method, gzip: true })
    expect(recorded?.headers['content-encoding']).toBe('gzip')
    // A row a line, with a line end after the last one too.
    expect(recorded?.encoding).toBe('lines')
    expect(call.body).toEndWith('}\n')
  })

  test('have a line for each generation, with every column of the table', async () => {
    const call = await sent([fullRecord(), fullRecord({ id: 'gen-2', cost: null, content: null })])
    const rows = String(call.body)
      .trimEnd()
      .split('\n')
      .map((line) => fieldsOf(JSON.parse(line)))
    const columns = [...createTable('d', 't').matchAll(/^ {2}([A-Z_]+) /gm)].map(([, name]) => name)
    for (const row of rows) expect(Object.keys(row)).toEqual(columns.map(String))
    expect(rows[0]).toMatchObject({
      TIMESTAMP: '2026-11-23T08:00:00.000Z',
      MODEL: 'openai/gpt-4.1-mini',
      TOTAL_TOKENS: 154,
      TOTAL_COST: '0.000125000',
      METADATA:
        '{"team":"blue","release":"1.4","retries":2,"nested":{"a":[1]},"trace_name":"answer a question"}',
      TIME_TO_FIRST_TOKEN_MS: 450,
      STATUS: 'ok',
      SPAN_TYPE: 'GENERATION',
    })
    expect(rows[1]).toMatchObject({ GENERATION_ID: 'gen-2', TOTAL_COST: null, INPUT: null })
  })

  test('have the same token in a repeat, and another one for another batch or destination', async () => {
    const tokenOf = async (...given: Parameters<typeof sent>) =>
      parametersOf((await sent(...given)).url)['insert_deduplication_token']
    const token = await tokenOf()
    expect(await tokenOf([fullRecord()], { ...context, isRepeat: true, now: 1 })).toBe(token ?? '')
    expect(await tokenOf([fullRecord({ id: 'gen-2' })])).not.toBe(token)
    expect(await tokenOf([fullRecord()], { ...context, destinationId: 'other' })).not.toBe(token)
  })

  test.each([
    ['a table', '`a table`'],
    ['a`b', '`a\\`b`'],
    ['a\\', '`a\\\\`'],
    ['t FORMAT Null; DROP TABLE x --', '`t FORMAT Null; DROP TABLE x --`'],
  ])('quote the table %s', async (table, quoted) => {
    const { url } = await sent([fullRecord()], contextFor({ ...FIELDS, table }))
    expect(parametersOf(url)['query']).toBe(`INSERT INTO ${quoted} FORMAT JSONEachRow`)
  })

  test('go to a host with a scheme as it is written', async () => {
    const { url } = await sent([fullRecord()], contextFor({ ...FIELDS, host: 'http://127.0.0.1:8123/ch' }))
    expect(url).toStartWith('http://127.0.0.1:8123/ch?database=default&')
  })
})

describe('a reply of ClickHouse', () => {
  const meaningOf = (status: number, code: number | null, body = 'canary') => {
    const headers = new Headers(code === null ? {} : { 'x-clickhouse-exception-code': String(code) })
    return clickhouse.meaningOf?.({ status, headers, body: new TextEncoder().encode(body) }, context)
  }

  test.each([
    [200, null, 'accepted'],
    [403, 516, 'unauthorized'],
    [500, 497, 'unauthorized'],
    [404, 81, 'retry'],
    [400, 27, 'refused'],
    [500, 53, 'refused'],
    [500, 252, 'retry'],
    [500, 9999, 'retry'],
    // An exception after the status was sent.
    [200, 241, 'retry'],
    [502, null, 'retry'],
    [401, null, 'unauthorized'],
  ] as const)('of %i with the exception %p is %s', (status, code, outcome) => {
    const meaning = meaningOf(status, code)
    expect(meaning).toMatchObject({ outcome })
    expect(JSON.stringify(meaning)).not.toContain('canary')
  })

  test('without the table has the statement that creates it, and delivery waits', () => {
    const meaning = meaningOf(404, 60)
    expect(meaning).toMatchObject({ outcome: 'retry' })
    expect(meaning).toHaveProperty(
      'sentence',
      expect.stringContaining(createTable('default', 'OPENROUTER_TRACES')),
    )
  })

  test('whose header was lost is known by its text', () => {
    expect(meaningOf(404, null, 'Code: 60. DB::Exception: canary')).toMatchObject({ outcome: 'retry' })
    expect(meaningOf(404, null, 'canary Code: 60. ')).toMatchObject({ outcome: 'unauthorized' })
  })
})
