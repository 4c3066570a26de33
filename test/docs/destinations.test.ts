import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { readConfig } from '../../src/admin/resources/destinations/config.ts'
import { isObject, parseJson } from '../../src/core/json.ts'
import { DESTINATION_TYPES, isDestinationType } from '../../src/exporters/destination-types.ts'
import { createTable as clickhouseTable } from '../../src/exporters/kinds/clickhouse.ts'
import { createTable as snowflakeTable } from '../../src/exporters/kinds/snowflake.ts'
import { NOTHING_ALLOWED } from '../../src/net/address.ts'

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
