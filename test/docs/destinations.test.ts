import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { readConfig } from '../../src/admin/resources/destinations/config.ts'
import { isObject, parseJson } from '../../src/core/json.ts'
import { DESTINATION_TYPES, isDestinationType } from '../../src/exporters/destination-types.ts'
import { createTable as clickhouseTable } from '../../src/exporters/kinds/clickhouse.ts'
import { otelCollector } from '../../src/exporters/kinds/otel-collector.ts'
import { createTable as snowflakeTable } from '../../src/exporters/kinds/snowflake.ts'
import { NOTHING_ALLOWED } from '../../src/net/address.ts'
import { readTraces } from '../exporters/otlp.ts'
import { contextFor, fullRecord } from '../exporters/records.ts'

const page = await Bun.file(join(import.meta.dir, '../../docs/destinations.md')).text()
const examples = [...page.matchAll(/^\| `([a-z0-9-]+)` +\| `(\{.*?\})` +\|/gm)].map(
  ([, type = '', config = '']) => ({ type, config }),
)

test('the page has an example of every kind', () => {
  expect(examples.map(({ type }) => type).sort()).toEqual(Object.keys(DESTINATION_TYPES).sort())
})

test.each(examples)('the example of $type is accepted', ({ type, config }) => {
  const given = parseJson(config)
  if (!isDestinationType(type) || !isObject(given)) throw new Error(config)
  expect(readConfig(type, given, NOTHING_ALLOWED).fields).toMatchObject(given)
})

test('the tables are those that a test of a destination prints', () => {
  const statements = [...page.matchAll(/^```sql\n([\s\S]*?);\n```$/gm)].map(([, sql]) => sql)
  expect(statements).toEqual([
    clickhouseTable('default', 'OPENROUTER_TRACES'),
    snowflakeTable('ANALYTICS', 'PUBLIC', 'OPENROUTER_TRACES'),
  ])
})

test('every attribute of a span is named', async () => {
  const failed = fullRecord({
    id: 'gen-2',
    error: { type: 'timeout', status: 504, message: 'No reply.' },
    parent: { id: 'gen-1', kind: 'tool' },
    cacheSourceId: 'gen-0',
    content: null,
    contentMissing: 'privacy',
  })
  const [call] = await otelCollector.batchOf(
    [fullRecord(), failed],
    contextFor({ endpoint: 'http://127.0.0.1:4318' }),
  )
  if (call === undefined) throw new Error('no call')
  const names = new Set(readTraces(call).spans.flatMap(({ attributes }) => Object.keys(attributes)))
  const isNamed = (name: string): boolean => {
    if (page.includes(`\`${name}\``)) return true
    const [prefix, rest] = [
      'gen_ai.request.',
      'gen_ai.usage.',
      'sluice.cost.',
      'sluice.trace.',
      'sluice.metadata.',
    ]
      .filter((beginning) => name.startsWith(beginning))
      .flatMap((beginning) => [beginning, name.slice(beginning.length)])
    return (
      page.includes(`\`${prefix}…\``) || (page.includes(`\`${prefix}\`:`) && page.includes(`\`${rest}\``))
    )
  }
  expect(names.size).toBeGreaterThan(50)
  expect([...names].filter((name) => !isNamed(name))).toEqual([])
})
