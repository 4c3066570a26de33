import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { deferLine, logRequest } from '../../src/http/access-log.ts'
import { logSettled } from '../../src/server/run.ts'
import { keyRecordOf, workspace } from '../http/snapshots.ts'
import { incomingOf } from '../incoming.ts'
import { settlementOf } from '../ledger/fixture.ts'

/** What a generation came to stands in the line of its request, or in one of its own behind it. */

const caller = { key: keyRecordOf('k'.repeat(40), { label: 'kkk...kkk' }), workspace }
function logging() {
  const lines: Record<string, unknown>[] = []
  const incoming = incomingOf(new Request('http://localhost/v1/chat/completions', { method: 'POST' }))
  incoming.keyLabel = caller.key.label
  return {
    lines,
    incoming,
    log: { request: (members: string) => void lines.push(JSON.parse(`{${members}}`)) },
  }
}
const OWN = ['request_id', 'trace_id', 'method', 'path', 'status', 'total_ms']
const SETTLED = [
  'model',
  'provider',
  'finish',
  'streamed',
  'first_token_ms',
  'prompt_tokens',
  'completion_tokens',
  'cost_usd',
]

test('settled before the reply: one line with all of it, in the order of its fields', () => {
  const { lines, incoming, log } = logging()
  logSettled(log, settlementOf({ requestId: incoming.id }), caller, incoming)
  deferLine(incoming)
  logRequest(log, incoming, 200)
  expect(lines.map((line) => Object.keys(line))).toEqual([[...OWN, 'key', 'generation_id', ...SETTLED]])
  expect(lines[0]).toMatchObject({ request_id: incoming.id, key: 'kkk...kkk', status: 200, method: 'POST' })
})

test('settled between the reply and the end of its stream: one line, by the generation', () => {
  const { lines, incoming, log } = logging()
  deferLine(incoming)
  logRequest(log, incoming, 200)
  expect(lines).toEqual([])
  logSettled(log, settlementOf({ requestId: incoming.id }), caller, incoming)
  expect(lines.map((line) => Object.keys(line))).toEqual([
    ['request_id', 'trace_id', 'status', 'total_ms', 'generation_id', 'key', ...SETTLED],
  ])
})

test('settled after the line of its request: a line of its own', () => {
  const { lines, incoming, log } = logging()
  logRequest(log, incoming, 202)
  logSettled(log, settlementOf({ requestId: incoming.id }), caller, incoming)
  expect(lines.map(({ request_id, status }) => [request_id, status])).toEqual([
    [incoming.id, 202],
    [incoming.id, 200],
  ])
})

test('whatever the names and figures are, the line is JSON with the same values', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.double(), fc.boolean(), (text, figure, cancelled) => {
      const { lines, incoming, log } = logging()
      const settlement = settlementOf({
        modelId: text,
        providerSlug: text,
        costNanoUsd: figure,
        latencyMs: figure,
        cancelled,
      })
      logSettled(log, settlement, caller, incoming)
      logRequest(log, incoming, 200)
      const cost_usd = JSON.parse(JSON.stringify(figure / 1e9))
      expect(lines[0]).toMatchObject({ model: text, provider: text, ...(cancelled ? { cancelled } : {}) })
      expect(Object.is(lines[0]?.['cost_usd'], cost_usd) || lines[0]?.['cost_usd'] === cost_usd).toBe(true)
    }),
    { seed: 14 },
  )
})
