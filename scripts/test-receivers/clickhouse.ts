import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { objectsIn } from '../../src/core/json.ts'
import type { DestinationConfig } from '../../src/exporters/destination-types.ts'
import { createTable } from '../../src/exporters/kinds/clickhouse.ts'
import { fullRecord } from '../../test/exporters/records.ts'
import { deliver, records } from './deliver.ts'
import { answers, cache, ended, equal, freePort, must, type Receiver } from './receiver.ts'

/** ClickHouse as a Python package: the server's engine, without the server. */
const PACKAGE = 'chdb-core==26.9.0'
const TABLE = 'a `table\\'

export const clickhouse: Receiver = {
  name: 'ClickHouse (chdb)',
  async start(folder) {
    const venv = join(cache, 'chdb')
    const python = join(venv, 'bin/python')
    if (!existsSync(join(venv, PACKAGE))) {
      await must(['python3', '-m', 'venv', venv])
      await must([python, '-m', 'pip', 'install', '--quiet', PACKAGE])
      await Bun.write(join(venv, PACKAGE), '')
    }
    const port = await freePort()
    const program = join(import.meta.dir, 'programs/clickhouse.py')
    const child = Bun.spawn([python, program, String(port), join(folder, 'clickhouse')], {
      stdout: 'ignore',
      stderr: 'inherit',
    })
    const url = `http://127.0.0.1:${port}`
    await answers(url, child)
    const [row] = await query(url, 'SELECT version() AS version')
    return { version: String(row?.['version']), check: () => check(url), stop: () => ended(child) }
  },
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const headers = { authorization: `Basic ${btoa('writer:pass:word')}` }
  const reply = await fetch(url, { method: 'POST', headers, body: sql })
  const text = await reply.text()
  if (!reply.ok) throw new Error(text.slice(0, 300))
  return objectsIn(
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  )
}

const configFor = (host: string, changes: Record<string, string> = {}): DestinationConfig => ({
  fields: { host, database: 'default', username: 'writer', password: 'pass:word', table: TABLE, ...changes },
  headers: null,
})

async function check(url: string): Promise<string[]> {
  const config = configFor(url)
  const wrong = await deliver('clickhouse', configFor(url, { password: 'x' }))
  equal('a wrong password', wrong.outcome, 'unauthorized')
  const missing = await deliver('clickhouse', config)
  const sentence = 'sentence' in missing ? (missing.sentence ?? '') : ''
  equal('a missing table', missing.outcome, 'retry')
  const statement = sentence.slice(sentence.indexOf('CREATE TABLE'))
  equal('the statement', statement, createTable('default', TABLE))
  await query(url, statement)
  equal('a batch', await deliver('clickhouse', config), { outcome: 'accepted' })
  equal('its repeat', await deliver('clickhouse', config, records, { isRepeat: true }), {
    outcome: 'accepted',
  })
  const name = '`a \\`table\\\\`'
  const rows = await query(
    url,
    `SELECT GENERATION_ID, toString(TIMESTAMP) AS AT, toString(TOTAL_COST) AS COST, STATUS, TOTAL_TOKENS,
      JSONExtractString(INPUT, 'messages', 1, 'content') AS FIRST, JSONExtractString(METADATA, 'team') AS TEAM
      FROM ${name} FINAL ORDER BY GENERATION_ID FORMAT JSONEachRow`,
  )
  equal('the rows', rows.map(withoutFirst), [
    { GENERATION_ID: 'gen-1', COST: '0.000125', STATUS: 'ok', TEAM: 'blue', ...SAME },
    { GENERATION_ID: 'gen-2', COST: null, STATUS: 'ok', TEAM: 'blue', ...SAME },
    { GENERATION_ID: 'gen-3', COST: '0.000125', STATUS: 'error', TEAM: '', ...SAME },
  ])
  equal('the first message', rows[0]?.['FIRST'], 'Answer briefly.')
  await query(url, 'CREATE TABLE own (GENERATION_ID UInt8) ENGINE = MergeTree ORDER BY tuple()')
  const unfit = await deliver('clickhouse', configFor(url, { table: 'own' }), [fullRecord({ id: 'x' })])
  equal('a column that does not take the event', unfit.outcome, 'refused')
  await query(
    url,
    'CREATE TABLE few (GENERATION_ID String, MODEL String) ENGINE = MergeTree ORDER BY tuple()',
  )
  equal('a table with few columns', await deliver('clickhouse', configFor(url, { table: 'few' })), {
    outcome: 'accepted',
  })
  const nowhere = await deliver('clickhouse', configFor(url, { database: 'nowhere' }))
  equal('a missing database', nowhere.outcome, 'retry')
  return [
    'a missing table and a missing database have different errors',
    'the table is created by the statement of the message',
    'three generations are inserted and read back: times, exact costs, JSON, half characters',
    'a repeat adds no row to a query with FINAL',
    'an event that does not fit a column is refused; columns that a table lacks are left out',
  ]
}

const SAME = { AT: '2026-11-23 08:00:00.000', TOTAL_TOKENS: 154 }

function withoutFirst({ FIRST: _, ...row }: Record<string, unknown>): Record<string, unknown> {
  return { ...row, TOTAL_TOKENS: Number(row['TOTAL_TOKENS']) }
}
