/**
 * Snowflake by its SQL API: docs.snowflake.com/en/developer-guide/sql-api (submitting-requests, handling-responses,
 * authenticating, reference), read on 2026-11-23. No SDK was recorded: Snowflake's drivers speak another protocol.
 */
import { parseObject, textOf } from '../../core/json.ts'
import { DESTINATION_TYPES } from '../destination-types.ts'
import { headersOf } from '../headers.ts'
import { jsonText } from '../json-text.ts'
import type { BatchContext, DeliveryReply, DestinationCall, DestinationKind, Meaning } from '../kind.ts'
import { meaningOfStatus } from '../meaning.ts'
import type { ExportRecord } from '../record.ts'
import { COLUMNS, type Column, present } from '../row.ts'
import { batchUuidOf } from '../uuid.ts'

export const snowflake: DestinationKind = {
  type: 'snowflake',
  fields: DESTINATION_TYPES.snowflake,
  // One bound value has all rows: Snowflake takes 16 MB for one.
  limits: { records: 500, bytes: 4_000_000, waitMs: 4_000 },
  batchOf: (records, context) => [
    {
      // The statement that a known id has begun is not begun again, if the request says that it is a repeat.
      url: statementsOf(
        context,
        `?requestId=${batchUuidOf(records, context)}${context.isRepeat ? '&retry=true' : ''}`,
      ),
      method: 'POST',
      headers: headersFor(context),
      body: jsonText({
        statement: mergeInto(field(context, 'table')),
        timeout: STATEMENT_SECONDS,
        database: field(context, 'database'),
        schema: field(context, 'schema'),
        warehouse: field(context, 'warehouse'),
        bindings: { '1': { type: 'TEXT', value: jsonText(records.map(rowOf)) } },
        parameters: { query_tag: 'sluice' },
      }),
    },
  ],
  meaningOf,
}

const STATEMENT_SECONDS = 120
const POLL_MS = 2_000

const field = ({ config }: BatchContext, name: string): string => config.fields[name] ?? ''

/** Names of hosts have "-" where the account's name has "_". */
const statementsOf = (context: BatchContext, rest: string): string =>
  `https://${field(context, 'account').toLowerCase().replaceAll('_', '-')}.snowflakecomputing.com/api/v2/statements${rest}`

const headersFor = (context: BatchContext): Record<string, string> =>
  headersOf(
    context.config,
    {
      authorization: `Bearer ${field(context, 'token')}`,
      // The operator's headers may name KEYPAIR_JWT or OAUTH.
      'x-snowflake-authorization-token-type': 'PROGRAMMATIC_ACCESS_TOKEN',
      accept: 'application/json',
      'user-agent': `sluice/${context.service.version}`,
    },
    'application/json',
  )

/** What is absent becomes NULL; a JSON null would not, in a column of JSON. */
const rowOf = (record: ExportRecord): Record<string, unknown> =>
  present(Object.fromEntries(COLUMNS.map((column) => [column.name, column.read(record)])))

const TYPES: Readonly<Record<Column['kind'], string>> = {
  text: 'VARCHAR',
  word: 'VARCHAR',
  time: 'TIMESTAMP_TZ(3)',
  count: 'NUMBER(38, 0)',
  number: 'FLOAT',
  money: 'NUMBER(18, 9)',
  boolean: 'BOOLEAN',
  json: 'VARIANT',
}

/** An identifier, exactly as it is stored: Snowflake stores names that were created without quotes in upper case. */
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/**
 * Inserts the rows whose generation the table does not have yet: at least once becomes once. The comparison of times lets
 * Snowflake skip the partitions of other days.
 */
function mergeInto(table: string): string {
  const names = COLUMNS.map(({ name }) => name)
  const values = COLUMNS.map(({ name, kind }) =>
    kind === 'json' ? `value:${name} AS ${name}` : `value:${name}::${TYPES[kind]} AS ${name}`,
  )
  return [
    `MERGE INTO ${quoted(table)} AS t`,
    `USING (SELECT ${values.join(', ')} FROM TABLE(FLATTEN(INPUT => PARSE_JSON(?)))) AS s`,
    'ON t.GENERATION_ID = s.GENERATION_ID AND t.TIMESTAMP = s.TIMESTAMP',
    `WHEN NOT MATCHED THEN INSERT (${names.join(', ')})`,
    `VALUES (${names.map((name) => `s.${name}`).join(', ')})`,
  ].join('\n')
}

/** The table, with one row a generation. */
export function createTable(database: string, schema: string, table: string): string {
  const columns = COLUMNS.map(
    ({ name, kind, isOptional }) => `  ${name} ${TYPES[kind]}${isOptional === true ? '' : ' NOT NULL'}`,
  )
  return [
    `CREATE TABLE IF NOT EXISTS ${[database, schema, table].map(quoted).join('.')} (`,
    columns.join(',\n'),
    ')',
  ].join('\n')
}

/** Codes of Snowflake's that say more than the status. */
const EXECUTING = new Set(['333333', '333334'])
/** "does not exist or not authorized": of the table, the schema or the database. */
const OBJECT_UNKNOWN = new Set(['002003', '002043'])
const CREDENTIAL = new Map([
  ['390100', 'refuses the user name or the password'],
  ['390101', 'refuses the token'],
  ['390102', 'has locked the user'],
  ['390104', 'refuses the token: it was revoked'],
  ['390110', 'refuses the token'],
  ['390114', 'refuses the token: it has expired'],
  ['390144', 'refuses the token: it is not a valid JWT'],
  ['390189', 'does not give this user the role of the token'],
  ['390303', 'refuses the token'],
  ['390318', 'refuses the token: it has expired'],
  ['390422', 'refuses the address of this machine: the network policy of the user does not have it'],
  ['390432', 'wants a network policy for the user of the token'],
])
/** A row that does not fit its column. */
const DATA = new Set([
  '100035',
  '100038',
  '100039',
  '100040',
  '100046',
  '100069',
  '100071',
  '100072',
  '100078',
  '100132',
])
const LATER = new Map([
  ['000606', 'has no warehouse that is running: name another one in config.warehouse, or resume it'],
  ['000625', 'limits the number of statements'],
  ['000904', 'has a table without the columns of these events'],
  ['003001', 'does not allow the role of the token to insert into the table'],
  ['390201', 'does not have the warehouse of config.warehouse, or does not allow the token to use it'],
  ['391918', 'has lost the statement'],
])

function meaningOf(reply: DeliveryReply, context: BatchContext): Meaning {
  const body = parseObject(new TextDecoder().decode(reply.body))
  const code = textOf(body?.['code'])
  if (reply.status === 202 || EXECUTING.has(code)) return pollOf(textOf(body?.['statementHandle']), context)
  const number = ` (${reply.status}${/^\d{6}$/.test(code) ? `, code ${code}` : ''})`
  if (OBJECT_UNKNOWN.has(code)) return { outcome: 'retry', sentence: missing(context, number) }
  const refusal = CREDENTIAL.get(code)
  if (refusal !== undefined) return { outcome: 'unauthorized', sentence: refusal + number }
  const later = LATER.get(code)
  if (later !== undefined) return { outcome: 'retry', sentence: later + number }
  if (DATA.has(code))
    return { outcome: 'refused', sentence: `has a table that does not take the event${number}` }
  // Of other failures of the statement none is known to be the fault of a row.
  if (reply.status === 422) return { outcome: 'retry', sentence: `failed to execute the statement${number}` }
  return meaningOfStatus(reply, context)
}

function missing(context: BatchContext, number: string): string {
  const [database, schema, table] = [
    field(context, 'database'),
    field(context, 'schema'),
    field(context, 'table'),
  ]
  const sql = createTable(database, schema, table)
  return `has no table ${database}.${schema}.${table}, or does not show it to the role of the token${number}. Create it with:\n${sql}`
}

/** The statement takes longer than 45 s: its handle tells the outcome. */
function pollOf(handle: string, context: BatchContext): Meaning {
  // It becomes a part of an address.
  if (!/^[0-9a-fA-F-]{8,64}$/.test(handle)) {
    return { outcome: 'retry', sentence: 'accepted the statement without saying where its outcome is' }
  }
  const next: DestinationCall = {
    url: statementsOf(context, `/${handle}`),
    method: 'GET',
    headers: headersFor(context),
    body: '',
  }
  return { outcome: 'pending', next, afterMs: POLL_MS }
}
