import { describe, expect, test } from 'bun:test'
import { fieldsOf, objectsIn } from '../../src/core/json.ts'
import { createTable, snowflake } from '../../src/exporters/kinds/snowflake.ts'
import { contextFor, fullRecord } from './records.ts'

const FIELDS = {
  account: 'MyOrg-my_account',
  token: 'pat',
  database: 'DB',
  schema: 'PUBLIC',
  table: 'OPENROUTER_TRACES',
  warehouse: 'COMPUTE_WH',
}
const context = contextFor(FIELDS)

async function sent(records = [fullRecord()], where = context) {
  const [call, ...more] = await snowflake.batchOf(records, where)
  if (call === undefined || more.length > 0) throw new Error('not one call')
  return { call, url: new URL(call.url), body: fieldsOf(JSON.parse(String(call.body))) }
}

describe('statements for Snowflake', () => {
  test('go to the account, with the credential of a programmatic access token', async () => {
    const { call, url } = await sent()
    expect(url.origin + url.pathname).toBe(
      'https://myorg-my-account.snowflakecomputing.com/api/v2/statements',
    )
    expect(call.headers).toEqual({
      authorization: 'Bearer pat',
      'x-snowflake-authorization-token-type': 'PROGRAMMATIC_ACCESS_TOKEN',
      accept: 'application/json',
      'user-agent': 'sluice/9.9.9',
      'content-type': 'application/json',
    })
    const headers = { 'X-Snowflake-Authorization-Token-Type': 'KEYPAIR_JWT' }
    const own = await sent([fullRecord()], { ...context, config: { fields: FIELDS, headers } })
    expect(own.call.headers['x-snowflake-authorization-token-type']).toBe('KEYPAIR_JWT')
  })

  test('insert what the table does not have, from one bound value', async () => {
    const { body } = await sent([fullRecord(), fullRecord({ id: "gen-'2", content: null })])
    expect(body).toMatchObject({ database: 'DB', schema: 'PUBLIC', warehouse: 'COMPUTE_WH' })
    const statement = String(body['statement'])
    expect(statement).toStartWith('MERGE INTO "OPENROUTER_TRACES" AS t\n')
    expect(statement).toContain('TABLE(FLATTEN(INPUT => PARSE_JSON(?)))')
    expect(statement).toContain('ON t.GENERATION_ID = s.GENERATION_ID')
    expect(statement).toContain('value:TOTAL_COST::NUMBER(18, 9) AS TOTAL_COST')
    expect(statement).toContain('value:INPUT AS INPUT')
    expect(statement.match(/\?/g)).toHaveLength(1)
    // Nothing of a generation is in the statement.
    expect(statement).not.toContain('gen-')
    const bindings = fieldsOf(body['bindings'])
    expect(Object.keys(bindings)).toEqual(['1'])
    const bound = fieldsOf(bindings['1'])
    expect(bound['type']).toBe('TEXT')
    const rows = objectsIn(JSON.parse(String(bound['value'])))
    expect(rows.map((row) => row['GENERATION_ID'])).toEqual([fullRecord().id, "gen-'2"])
    expect(rows[0]).toMatchObject({ TIMESTAMP: '2026-11-23T08:00:00.000Z', METADATA: { team: 'blue' } })
    expect(rows[1]).not.toHaveProperty('INPUT')
  })

  test('have as many columns as the table that the documentation creates', async () => {
    const { body } = await sent()
    const columns = [...createTable('d', 's', 't').matchAll(/^ {2}([A-Z_]+) /gm)].map(([, name]) => name)
    const inserted = /INSERT \(([^)]+)\)/.exec(String(body['statement']))?.[1]?.split(', ')
    expect(inserted).toEqual(columns.map(String))
  })

  test('quote names', async () => {
    const { body } = await sent([fullRecord()], contextFor({ ...FIELDS, table: 'a" b; DROP' }))
    expect(body['statement']).toStartWith('MERGE INTO "a"" b; DROP" AS t\n')
    expect(createTable('d"', 's', 't')).toContain('"d"""."s"."t"')
  })

  test('are repeated with the same id, and say so', async () => {
    const [first, repeat, other] = await Promise.all([
      sent(),
      sent([fullRecord()], { ...context, isRepeat: true, now: 1 }),
      sent([fullRecord({ id: 'gen-2' })]),
    ])
    const id = first.url.searchParams.get('requestId')
    expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect(first.url.searchParams.has('retry')).toBe(false)
    expect(repeat.url.searchParams.get('requestId')).toBe(id)
    expect(repeat.url.searchParams.get('retry')).toBe('true')
    expect(other.url.searchParams.get('requestId')).not.toBe(id)
  })
})

describe('a reply of Snowflake', () => {
  const meaningOf = (status: number, body: object | string) => {
    const text = typeof body === 'string' ? body : JSON.stringify({ message: 'canary', ...body })
    return snowflake.meaningOf?.(
      { status, headers: new Headers(), body: new TextEncoder().encode(text) },
      context,
    )
  }

  test.each([
    [200, { code: '090001' }, 'accepted'],
    [401, { code: '390303' }, 'unauthorized'],
    [401, { code: '390318' }, 'unauthorized'],
    [403, { code: '390422' }, 'unauthorized'],
    [401, 'canary', 'unauthorized'],
    [422, { code: '100038' }, 'refused'],
    [422, { code: '001003' }, 'retry'],
    [422, { code: '000904' }, 'retry'],
    [422, { code: '390201' }, 'retry'],
    [404, { code: '391918' }, 'retry'],
    [408, { code: '000630' }, 'retry'],
    [429, { code: '390505' }, 'retry'],
    [503, 'canary', 'retry'],
    [413, 'canary', 'too-large'],
  ] as const)('of %i with %j is %s', (status, body, outcome) => {
    const meaning = meaningOf(status, body)
    expect(meaning).toMatchObject({ outcome })
    expect(JSON.stringify(meaning)).not.toContain('canary')
  })

  test('without the table has the statement that creates it', () => {
    expect(meaningOf(422, { code: '002003' })).toMatchObject({
      outcome: 'retry',
      sentence: expect.stringContaining(createTable('DB', 'PUBLIC', 'OPENROUTER_TRACES')),
    })
  })

  test.each([202, 429, 200])('of %i whose statement runs is asked for again by its handle', (status) => {
    const statementHandle = '01b2c3d4-0000-1111-0000-000000000001'
    expect(meaningOf(status, { code: '333334', statementHandle })).toMatchObject({
      outcome: 'pending',
      afterMs: 2_000,
      next: {
        method: 'GET',
        url: `https://myorg-my-account.snowflakecomputing.com/api/v2/statements/${statementHandle}`,
        headers: { authorization: 'Bearer pat' },
      },
    })
  })

  test('whose handle is malformed is not followed', () => {
    expect(meaningOf(202, { statementHandle: '../../x?canary' })).toMatchObject({ outcome: 'retry' })
  })
})
