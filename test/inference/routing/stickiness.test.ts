import { beforeEach, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import type { ProviderPreferences, RoutedRequest } from '../../../src/core/request.ts'
import { parseChat } from '../../../src/dialects/chat/parse.ts'
import { parseMessages } from '../../../src/dialects/messages/parse.ts'
import { parseResponses } from '../../../src/dialects/responses/parse.ts'
import type { Cooldown } from '../../../src/inference/routing/health.ts'
import { plan } from '../../../src/inference/routing/plan.ts'
import type { PlanInput } from '../../../src/inference/routing/plan-input.ts'
import { conversationOf, createConversations, drawsOf } from '../../../src/inference/routing/stickiness.ts'
import { caller, directory, endpoint, model, pricing, provider, recentAs, snapshot } from '../fixture.ts'

const hi = { role: 'user', content: 'Hi' }
const chat = (more: JsonObject) => parseChat({ model: 'm', messages: [hi], ...more }, new Headers())
const claude = (more: JsonObject) =>
  parseMessages({ model: 'm', max_tokens: 9, messages: [hi], ...more }, new Headers())
const codex = (more: JsonObject) => parseResponses({ model: 'm', input: 'Hi', ...more }, new Headers())

describe('a conversation with an id has the same draws each time', () => {
  const names = ['one', 'two', 'three']
  const drawsFor = (request: RoutedRequest) =>
    names.map(drawsOf({ request, caller: caller(), random: () => 0.5 }))

  test.each([
    ['session_id', chat({ session_id: 'a' }), chat({ session_id: 'b' })],
    ['prompt_cache_key, chat', chat({ prompt_cache_key: 'a' }), chat({ prompt_cache_key: 'b' })],
    ['prompt_cache_key, responses', codex({ prompt_cache_key: 'a' }), codex({ prompt_cache_key: 'b' })],
    ['user_id, messages', claude({ metadata: { user_id: 'a' } }), claude({ metadata: { user_id: 'b' } })],
  ])('%s', (_, one, other) => {
    const draws = drawsFor(one)
    expect(drawsFor(one)).toEqual(draws)
    expect(drawsFor(other)).not.toEqual(draws)
    expect(new Set(draws).size).toBe(3)
    for (const draw of draws) expect(draw > 0 && draw <= 1).toBe(true)
  })

  test('the session wins', () => {
    const both = chat({ session_id: 'a', prompt_cache_key: 'b' })
    expect(drawsFor(both)).toEqual(drawsFor(chat({ session_id: 'a' })))
  })

  test('the draws are spread evenly', () => {
    const draws = Array.from({ length: 1_000 }, (_, index) => drawsFor(chat({ session_id: `s${index}` }))[0])
    expect(draws.filter((draw) => (draw ?? 0) < 0.25).length).toBeWithin(200, 300)
  })

  test.each([
    ['no id', chat({})],
    ['a user of chat, who may have many conversations', chat({ user: 'u' })],
    ['an empty key', chat({ prompt_cache_key: '' })],
  ])('chance decides: %s', (_, request) => expect(drawsFor(request)).toEqual([0.5, 0.5, 0.5]))
})

describe('a conversation without an id is recognized by its first messages', () => {
  const numberOf = (request: RoutedRequest, workspace = 'w1') =>
    conversationOf({ request, caller: caller({}, { id: workspace }) })
  const system = { role: 'system', content: 'Be brief.' }
  const answer = { role: 'assistant', content: 'Hello' }
  const opening = chat({ messages: [system, hi] })

  test('later messages do not change it', () => {
    const later = chat({ messages: [system, hi, answer, { role: 'user', content: 'And now?' }] })
    expect(numberOf(later)).toBe(numberOf(opening))
    const claudes = [
      claude({ system: 'Be brief.' }),
      claude({ system: 'Be brief.', messages: [hi, answer, hi] }),
    ]
    expect(new Set(claudes.map((request) => numberOf(request))).size).toBe(1)
    const responses = [codex({}), codex({ input: [hi, answer, hi] })]
    expect(new Set(responses.map((request) => numberOf(request))).size).toBe(1)
  })

  test.each([
    ['another first message', chat({ messages: [system, { role: 'user', content: 'Ho' }] }), 'w1'],
    ['another system prompt', chat({ messages: [{ role: 'system', content: 'Be long.' }, hi] }), 'w1'],
    ['another model', chat({ model: 'n', messages: [system, hi] }), 'w1'],
    ['another workspace', opening, 'w2'],
  ])('%s changes it', (_, request, workspace) =>
    expect(numberOf(request, workspace)).not.toBe(numberOf(opening)),
  )

  test('long first messages are distinguished by their length, and only their start is read', () => {
    const long = (tail: string) => chat({ messages: [{ role: 'user', content: 'x'.repeat(2_000) + tail }] })
    expect(numberOf(long('a'))).toBe(numberOf(long('b')))
    expect(numberOf(long('a'))).not.toBe(numberOf(long('ab')))
  })

  test('the text of a message with images counts', () => {
    const withImage = (text: string) =>
      chat({
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
              { type: 'text', text },
            ],
          },
        ],
      })
    expect(numberOf(withImage('a'))).not.toBe(numberOf(withImage('b')))
  })

  test('a request without a message of the user has none', () =>
    expect(numberOf(chat({ messages: [system] }))).toBeNull())
})

describe('the endpoint that answered', () => {
  const one = 'one/m'
  const two = 'two/m'
  const world = snapshot(
    [provider('one'), provider('two'), provider('three')],
    directory([
      model('m', [
        endpoint('one', 'm', { pricing: pricing('0.000001', '0.000001') }),
        endpoint('two', 'm', { pricing: pricing('0.000002', '0.000002') }),
      ]),
    ]),
  )
  let now = 0
  let conversations = createConversations(() => now)
  beforeEach(() => {
    now = 1_000_000
    conversations = createConversations(() => now)
  })

  const opening = chat({ messages: [hi] })
  const turn = (preferences: Partial<ProviderPreferences> = {}) => {
    const request = chat({ messages: [hi, { role: 'assistant', content: 'Hello' }, hi] })
    return { ...request, preferences: { ...request.preferences, ...preferences } }
  }
  const first = (request: PlanInput['request'], more: Partial<PlanInput> = {}) =>
    plan({
      request,
      caller: caller(),
      snapshot: world,
      now,
      cooldownOf: () => null,
      answeredBy: conversations.endpointOf,
      random: () => 0.5,
      ...more,
    }).attempts[0]?.endpoint.id
  const answered = (request: RoutedRequest, id: string) =>
    conversations.answered(conversationOf({ request, caller: caller() }) ?? 0, id)

  test('is preferred by the next request of the conversation, whatever the price', () => {
    expect(first(turn())).toBe(one)
    answered(opening, two)
    expect(first(turn())).toBe(two)
  })

  test('is not preferred by another conversation that begins alike', () => {
    answered(opening, two)
    expect(first(opening)).toBe(one)
  })

  test('is preferred by a conversation with an id, after a fail-over too', () => {
    const request = chat({ session_id: 'a' })
    const drawn = first(request)
    const other = drawn === one ? two : one
    answered(request, other)
    expect(first(request)).toBe(other)
  })

  test('is passed over while it fails', () => {
    answered(opening, two)
    const failing: Cooldown = { reason: 'failing', until: now + 1_000 }
    const cooldownOf: PlanInput['cooldownOf'] = ({ endpoint: { id } }) => (id === two ? failing : null)
    expect(first(turn(), { cooldownOf })).toBe(one)
  })

  test.each<[string, Partial<ProviderPreferences>]>([
    ['a sort by price', { sort: 'price' }],
    ['a sort by latency', { sort: 'latency' }],
    ['an order', { order: ['one'] }],
    ['an exclusion', { ignore: ['two'] }],
  ])('does not override %s', (_, preferences) => {
    answered(opening, two)
    const recent: PlanInput['recent'] = (id) => recentAs({ latency: id === one ? 10 : 90 })
    expect(first(turn(preferences), { recent })).toBe(one)
  })

  test('is preferred among endpoints that a sort finds alike', () => {
    answered(opening, two)
    const recent: PlanInput['recent'] = (id) => recentAs({ latency: id === one ? 100 : 104 })
    expect(first(turn({ sort: 'latency' }), { recent })).toBe(two)
  })

  test('is forgotten 10 minutes after its last answer', () => {
    answered(opening, two)
    now += 10 * 60_000
    expect(first(turn())).toBe(two)
    now += 1
    expect(first(turn())).toBe(one)
  })

  test('of the 16,384 conversations that answered last are remembered', () => {
    for (let conversation = 0; conversation < 16_385; conversation++)
      conversations.answered(conversation, two)
    expect([0, 1, 16_384].map(conversations.endpointOf)).toEqual([undefined, two, two])
  })
})
