import { expect, test } from 'bun:test'
import type { ProviderRecord } from '../../src/core/snapshot.ts'
import { parseOutboundAllow } from '../../src/net/address.ts'
import { demoProvider } from '../../src/providers/demo.ts'
import { isOnOwnNetwork } from '../../src/providers/index.ts'

const demo = demoProvider({ timeouts: { firstByteMs: 1, betweenBytesMs: 1, totalMs: 1 }, maxInFlight: 1 })
const allow = parseOutboundAllow(['gpu.example.com'])

test.each([
  ['http://127.0.0.1:11434/v1', true],
  ['http://localhost:1234/v1', true],
  ['http://[::1]:8000/v1', true],
  ['http://192.168.1.20:8000/v1', true],
  ['http://ollama:11434/v1', true],
  ['http://llm.internal/v1', true],
  ['https://gpu.example.com/v1', true],
  ['https://8.8.8.8/v1', false],
  ['https://[2606:4700::1111]/v1', false],
  ['https://api.openai.com/v1', false],
  ['https://eu.api.openai.com/v1', false],
  ['https://notapi.openai.com.example.com/v1', 'notapi.openai.com.example.com'],
  ['https://vllm.example.com/v1', 'vllm.example.com'],
])('%s: %p', (baseUrl, expected) => {
  expect(isOnOwnNetwork({ ...demo, kind: 'compatible', baseUrl }, allow)).toBe(expected)
})

test('a cloud is elsewhere, unless its address is moved to the own network; the demo fetches nothing', () => {
  const at = (baseUrl: string): ProviderRecord => ({ ...demo, kind: 'vertex', baseUrl })
  expect(isOnOwnNetwork(at('https://x.googleapis.com/v1'), allow)).toBe(false)
  expect(isOnOwnNetwork(at('http://10.0.0.1/v1'), allow)).toBe(true)
  expect(isOnOwnNetwork(demo, allow)).toBe(false)
})
