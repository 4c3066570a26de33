import { describe, expect, test } from 'bun:test'
import type { DestinationType } from '../../src/exporters/destination-types.ts'
import { jsonText } from '../../src/exporters/json-text.ts'
import { clickhouse } from '../../src/exporters/kinds/clickhouse.ts'
import { KINDS } from '../../src/exporters/kinds/index.ts'
import { CONFIGS } from './configs.ts'
import { contextFor, fullRecord } from './records.ts'

test('half of a character becomes U+FFFD, in names and lists too; everything else stays', () => {
  expect(jsonText({ a: ['x\ud83d', '\udc00y'], b: '😀', c: '\\ud83d' })).toBe(
    '{"a":["x\ufffd","\ufffdy"],"b":"😀","c":"\\\\ud83d"}',
  )
})

const content = {
  input: {
    messages: [
      { role: 'user', content: 'cut \ud83d' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: { a: '\udc00' } } }],
      },
      { role: 'tool', tool_call_id: 'c', content: [{ type: 'unknown', of: '\ud83d' }] },
    ],
  },
  output: { completion: 'cut \ud83d', reasoning: '\udc00' },
  tools: [{ type: 'function', function: { name: 'f', description: '\ud83d' } }],
}
const cut = fullRecord({
  content,
  metadata: { team: '\ud83d' },
  trace: { ...fullRecord().trace, extra: { nested: { a: '\udc00' } } },
})

const types = Object.keys(CONFIGS).filter((type): type is DestinationType => type in KINDS)

describe('JSON within JSON', () => {
  test.each(types)('%s sends no half of a character', async (type) => {
    const calls = await KINDS[type].batchOf([cut], contextFor(CONFIGS[type]))
    const text = calls.map(({ body }) => textOf(body)).join('\n')
    expect(text).not.toMatch(/\\u[dD][89a-fA-F]/)
  })

  test('it arrives as U+FFFD', async () => {
    const prompt = {
      input: { prompt: 'cut \ud83d' },
      output: { completion: '\udc00', reasoning: null },
      tools: null,
    }
    const [call] = await clickhouse.batchOf(
      [fullRecord({ content: prompt })],
      contextFor({ host: 'a.example', table: 't' }),
    )
    expect(JSON.parse(String(call?.body))).toMatchObject({ INPUT: '{"prompt":"cut \ufffd"}' })
  })
})

function textOf(body: string | Uint8Array<ArrayBuffer>): string {
  if (typeof body === 'string') return body
  const isGzip = body[0] === 0x1f && body[1] === 0x8b
  return Buffer.from(isGzip ? Bun.gunzipSync(body) : body).toString('latin1')
}
