/**
 * ClickHouse by its HTTP interface: the call of @clickhouse/client 1.23 (read in its package on 2026-11-23),
 * clickhouse.com/docs/interfaces/http and clickhouse.com/docs/optimize/asynchronous-inserts.
 */
import { DESTINATION_TYPES } from '../destination-types.ts'
import { basic, headersOf } from '../headers.ts'
import { jsonText } from '../json-text.ts'
import type { BatchContext, DeliveryReply, DestinationKind, Meaning } from '../kind.ts'
import { meaningOfStatus } from '../meaning.ts'

import type { ExportRecord } from '../record.ts'
import { COLUMNS, type Column, valueIn } from '../row.ts'
import { batchUuidOf } from '../uuid.ts'

export const clickhouse: DestinationKind = {
  type: 'clickhouse',
  fields: DESTINATION_TYPES.clickhouse,
  limits: { records: 1_000, bytes: 8_000_000, waitMs: 2_000 },
  batchOf: (records, context) => [
    {
      url: addressOf(context, batchUuidOf(records, context)),
      method: 'POST',
      headers: headersOf(
        context.config,
        {
          authorization: basic(field(context, 'username'), field(context, 'password')),
          'user-agent': `sluice/${context.service.version}`,
        },
        'application/x-ndjson',
      ),
      body: records.map((record) => `${lineOf(record)}\n`).join(''),
      gzip: true,
    },
  ],
  meaningOf,
}

const field = ({ config }: BatchContext, name: string): string => config.fields[name] ?? ''

/**
 * The server collects asynchronous inserts of many senders into one part, and answers once it is written. It recognizes
 * a repeat by the token. Columns that a table of the operator's own lacks are left out by it.
 */
function addressOf(context: BatchContext, token: string): string {
  const host = field(context, 'host')
  const address = new URL(/^https?:\/\//i.test(host) ? host : `https://${host}`)
  const parameters = {
    database: field(context, 'database'),
    query: `INSERT INTO ${quoted(field(context, 'table'))} FORMAT JSONEachRow`,
    async_insert: '1',
    wait_for_async_insert: '1',
    async_insert_deduplicate: '1',
    insert_deduplication_token: token,
    date_time_input_format: 'best_effort',
    input_format_skip_unknown_fields: '1',
  }
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value)
  return address.href
}

/** An identifier of ClickHouse's SQL. */
const quoted = (name: string): string => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``

const lineOf = (record: ExportRecord): string =>
  jsonText(
    Object.fromEntries(
      COLUMNS.map((column) => {
        const value = valueIn(column, record)
        return [column.name, column.kind === 'json' && value !== null ? jsonText(value) : value]
      }),
    ),
  )

const TYPES: Readonly<Record<Column['kind'], string>> = {
  text: 'String',
  word: 'LowCardinality(String)',
  time: "DateTime64(3, 'UTC')",
  count: 'UInt64',
  number: 'Float64',
  money: 'Decimal(18, 9)',
  boolean: 'Bool',
  json: 'String',
}

function typeOf({ kind, isOptional }: Column): string {
  if (isOptional !== true) return TYPES[kind]
  return kind === 'word' ? 'LowCardinality(Nullable(String))' : `Nullable(${TYPES[kind]})`
}

/**
 * The table, with one row a generation. Its engine removes repeats when it merges parts: at least once becomes once,
 * at once for queries with FINAL.
 */
export function createTable(database: string, table: string): string {
  const columns = COLUMNS.map((column) => `  ${column.name} ${typeOf(column)}`)
  return [
    `CREATE TABLE IF NOT EXISTS ${quoted(database)}.${quoted(table)} (`,
    columns.join(',\n'),
    ')',
    'ENGINE = ReplacingMergeTree',
    'PARTITION BY toYYYYMM(TIMESTAMP)',
    'ORDER BY (TIMESTAMP, GENERATION_ID)',
    'SETTINGS non_replicated_deduplication_window = 1000',
  ].join('\n')
}

/** ClickHouse's numbers of exceptions (src/Common/ErrorCodes.cpp), of those that say more than the status. */
const UNKNOWN_TABLE = 60
const UNKNOWN_DATABASE = 81
const CREDENTIAL = new Map([
  [192, 'knows no such user'],
  [193, 'refuses the user name or the password'],
  [194, 'wants a password'],
  [497, 'does not allow this user to insert into the table'],
  [516, 'refuses the user name or the password'],
])
const LATER = new Map([
  [164, 'takes no inserts at this time: it is read-only'],
  [201, 'takes no inserts at this time: the quota of this user is used up'],
  [202, 'takes no inserts at this time: too many queries are running'],
  [241, 'takes no inserts at this time: its memory is used up'],
  [242, 'takes no inserts at this time: the table is read-only'],
  [243, 'takes no inserts at this time: its disk is full'],
  [252, 'takes no inserts at this time: the table has too many parts'],
  [16, 'has a table without the columns of these events'],
  [47, 'has a table without the columns of these events'],
  [62, 'does not understand the insert: it may be older than 23.8'],
  [115, 'does not know a setting of the insert: it may be older than 23.8'],
])
/** What the rows are, not the server: one of them does not fit the table. */
const DATA = new Set([6, 25, 26, 27, 38, 41, 53, 69, 70, 72, 117, 130, 321, 349, 407, 467])

function meaningOf(reply: DeliveryReply, context: BatchContext): Meaning {
  const code = exceptionOf(reply)
  if (code === null) return meaningOfStatus(reply, context)
  const number = ` (exception ${code})`
  const [database, table] = [field(context, 'database'), field(context, 'table')]
  if (code === UNKNOWN_TABLE) {
    const sentence = `has no table ${table} in the database ${database}${number}. Create it with:\n${createTable(database, table)}`
    return { outcome: 'retry', sentence }
  }
  if (code === UNKNOWN_DATABASE) {
    return { outcome: 'retry', sentence: `has no database ${database}${number}: create it` }
  }
  const refusal = CREDENTIAL.get(code)
  if (refusal !== undefined) return { outcome: 'unauthorized', sentence: refusal + number }
  if (DATA.has(code)) {
    return { outcome: 'refused', sentence: `has a table whose columns do not take the event${number}` }
  }
  const later = LATER.get(code)
  if (later !== undefined) return { outcome: 'retry', sentence: later + number }
  // An exception may come after a status of 200.
  const meaning = meaningOfStatus(reply, context)
  return meaning.outcome === 'accepted'
    ? { outcome: 'retry', sentence: `failed to insert the events${number}` }
    : meaning
}

/** By the header; behind a proxy that removes it, by the text's beginning. An exception may follow a status of 200. */
function exceptionOf({ headers, body }: DeliveryReply): number | null {
  const beginning = new TextDecoder().decode(body.subarray(0, 40))
  const code = headers.get('x-clickhouse-exception-code') ?? /^Code: (\d{1,5})\. /.exec(beginning)?.[1]
  return code != null && /^\d{1,5}$/.test(code) ? Number(code) : null
}
