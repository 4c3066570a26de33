import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { parseChat } from '../../../src/dialects/chat/parse.ts'
import { parseMessages } from '../../../src/dialects/messages/parse.ts'
import { parseResponses } from '../../../src/dialects/responses/parse.ts'
import { randomFor } from '../../../src/inference/routing/stickiness.ts'

const messages = [{ role: 'user', content: 'Hi' }]
const chat = (more: JsonObject) => parseChat({ model: 'm', messages, ...more }, new Headers())
const claude = (more: JsonObject) => parseMessages({ model: 'm', messages, ...more }, new Headers())
const codex = (more: JsonObject) => parseResponses({ model: 'm', input: 'Hi', ...more }, new Headers())

const any = () => 0.5
const three = (draw: () => number) => [draw(), draw(), draw()]

describe('a conversation has the same draws each time', () => {
  test.each([
    ['session_id', chat({ session_id: 'a' }), chat({ session_id: 'b' })],
    ['prompt_cache_key, chat', chat({ prompt_cache_key: 'a' }), chat({ prompt_cache_key: 'b' })],
    ['prompt_cache_key, responses', codex({ prompt_cache_key: 'a' }), codex({ prompt_cache_key: 'b' })],
    ['user_id, messages', claude({ metadata: { user_id: 'a' } }), claude({ metadata: { user_id: 'b' } })],
  ])('%s', (_, one, other) => {
    const draws = three(randomFor(one, any))
    expect(three(randomFor(one, any))).toEqual(draws)
    expect(three(randomFor(other, any))).not.toEqual(draws)
    expect(new Set(draws).size).toBe(3)
    for (const draw of draws) expect(draw >= 0 && draw < 1).toBe(true)
  })
})

test('the session wins', () => {
  const both = chat({ session_id: 'a', prompt_cache_key: 'b' })
  expect(three(randomFor(both, any))).toEqual(three(randomFor(chat({ session_id: 'a' }), any)))
})

test.each([
  ['nothing is said', chat({})],
  ['a user of chat, who may have many conversations', chat({ user: 'u' })],
  ['an empty key', chat({ prompt_cache_key: '' })],
])('chance decides: %s', (_, request) => {
  expect(three(randomFor(request, any))).toEqual([0.5, 0.5, 0.5])
})
