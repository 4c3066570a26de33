/** Content filters of a key and the results of server tools, which the caller has not written. */
import { expect, test } from 'bun:test'
import { ask, calls, says, startTools } from './setup.ts'

const { upstream, gateway, results } = await startTools()

async function guardedBy(action: string, args: object = { expression: '6 * 7' }) {
  const { key } = await gateway.makeGuardedKey({
    content_filters: [{ pattern: '42|nonsense', action }],
  })
  upstream.inTurn('tiny', [calls([{ name: 'calculator', args }]), says('Done.')])
  const headers = { authorization: `Bearer ${key}`, 'x-openrouter-metadata': 'enabled' }
  const response = await gateway.call('/chat/completions', ask(), headers)
  expect(response.status).toBe(200)
  const { openrouter_metadata } = await response.json()
  return { result: results()[0] ?? '', stages: JSON.stringify(openrouter_metadata.pipeline) }
}

test('redact a result, and say so', async () => {
  const { result, stages } = await guardedBy('redact')
  expect(result).toContain('[REDACTED')
  expect(result).not.toContain('42')
  expect(stages).toContain('"action":"redact","count":1')
  expect(String(gateway.generations().at(-1)?.['guardrails'])).toContain('"action":"redact"')
})

test('withhold a result that one blocks, and the model answers without it', async () => {
  const { result } = await guardedBy('block')
  expect(result).toContain('its result was withheld by the content filters of a guardrail')
  expect(result).not.toContain('42')
})

test('see what failed, too', async () => {
  const { result } = await guardedBy('redact', { expression: 'nonsense(1)' })
  expect(result).toContain('failed: ')
  expect(result).not.toContain('nonsense')
})

test('a key without filters is not concerned', async () => {
  upstream.inTurn('tiny', [calls([{ name: 'calculator', args: { expression: '6 * 7' } }]), says('Done.')])
  await gateway.call('/chat/completions', ask())
  expect(results()[0]).toContain('42')
})
