import { expect, test } from 'bun:test'
import { jsonText } from '../../src/exporters/json-text.ts'
import { clickhouse } from '../../src/exporters/kinds/clickhouse.ts'
import { contextFor, fullRecord } from './records.ts'

test('half of a character becomes U+FFFD, in names and lists too; everything else stays', () => {
  expect(jsonText({ a: ['x\ud83d', '\udc00y'], b: '😀', c: '\\ud83d' })).toBe(
    '{"a":["x\ufffd","\ufffdy"],"b":"😀","c":"\\\\ud83d"}',
  )
})

test('also in JSON within JSON', async () => {
  const content = {
    input: { prompt: 'cut \ud83d' },
    output: { completion: '\udc00', reasoning: null },
    tools: null,
  }
  const [call] = await clickhouse.batchOf(
    [fullRecord({ content })],
    contextFor({ host: 'a.example', table: 't' }),
  )
  expect(String(call?.body)).not.toMatch(/\\ud[89a-f]/)
  expect(JSON.parse(String(call?.body))).toMatchObject({ INPUT: '{"prompt":"cut \ufffd"}' })
})
