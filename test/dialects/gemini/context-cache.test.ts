import { describe, expect, test } from 'bun:test'
import { UpstreamError } from '../../../src/core/errors.ts'
import { chatIngress } from '../../../src/dialects/chat/ingress.ts'
import type { MadeContext } from '../../../src/dialects/dialect.ts'
import { buildGemini } from '../../../src/dialects/gemini/build.ts'
import { contextCache } from '../../../src/dialects/gemini/context-cache.ts'
import { attemptAt } from './attempt.ts'

const mark = { cache_control: { type: 'ephemeral' } }
const LONG = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const text = (words: string, marked = false) => ({ type: 'text', text: words, ...(marked ? mark : {}) })
const CALL = { id: 'call-1', type: 'function', function: { name: 'tide', arguments: '{}' } }
const TOOL = { type: 'function', function: { name: 'tide' } }

const cutsOf = (body: object) => {
  const request = chatIngress.parse({ model: 'm', ...body }, new Headers())
  const call = buildGemini(request, attemptAt({ upstreamId: 'gemini-3-tides' }))
  return { call, cuts: call.cuts?.() ?? null }
}

/** The texts that are kept, and those that are asked behind them, for each cut. */
const textsOf = (value: unknown): string[] =>
  [...JSON.stringify(value ?? []).matchAll(/"(?:text|output)":"([^"]*)"/g)].map((match) => match[1] ?? '')
const sides = (body: object) =>
  cutsOf(body).cuts?.map((cut) => [textsOf(cut.kept), textsOf(cut.bodyWith('c')['contents'])]) ?? null

const system = (marked: boolean) => ({ role: 'system', content: [text('S', marked)] })
const user = (words: string, marked = false) => ({ role: 'user', content: [text(words, marked)] })
const said = (words: string, marked = false) => ({ role: 'assistant', content: [text(words, marked)] })

describe('a call is cut', () => {
  test.each<[string, object, string[][][] | null]>([
    ['nowhere without a mark', { messages: [system(false), user('Q')] }, null],
    ['behind the system message', { messages: [system(true), user('Q')] }, [[['S'], ['Q']]]],
    ['behind tools', { messages: [user('Q')], tools: [{ ...TOOL, ...mark }] }, [[[], ['Q']]]],
    [
      'within a message of the user',
      { messages: [system(false), { role: 'user', content: [text('D', true), text('Q')] }] },
      [[['S', 'D'], ['Q']]],
    ],
    [
      'before the last question where that is marked',
      { messages: [system(false), user('Q', true)] },
      [[['S'], ['Q']]],
    ],
    ['nowhere where nothing stands before the last question', { messages: [user('Q', true)] }, []],
    [
      'behind an answer, where a question follows',
      { messages: [user('Q'), said('A', true), user('R')] },
      [[['Q', 'A'], ['R']]],
    ],
    [
      'before the question whose calls were answered last',
      {
        messages: [
          user('Q'),
          said('A'),
          user('R'),
          { role: 'assistant', content: null, tool_calls: [CALL] },
          { role: 'tool', tool_call_id: 'call-1', content: [text('high', true)] },
        ],
      },
      [
        [
          ['Q', 'A'],
          ['R', 'high'],
        ],
      ],
    ],
    [
      'in several places, the shortest first, each once',
      {
        messages: [system(true), user('Q', true), said('A', true), user('R', true)],
        cache_control: { type: 'ephemeral' },
      },
      [
        [['S'], ['Q', 'A', 'R']],
        [['S', 'Q', 'A'], ['R']],
      ],
    ],
    [
      'by the mark of the whole body',
      { messages: [user('Q'), said('A'), user('R')], cache_control: { type: 'ephemeral' } },
      [[['Q', 'A'], ['R']]],
    ],
  ])('%s', (_, body, wanted) => {
    expect(sides(body)).toEqual(wanted)
  })

  test('at most in four places, the longest of all', () => {
    const turns = Array.from({ length: 7 }, (_, i) => [user(`Q${i}`, true), said(`A${i}`)]).flat()
    const cuts = sides({ messages: [system(true), ...turns, user('R')] })
    expect(cuts).toHaveLength(4)
    expect(cuts?.at(-1)?.[1]).toEqual(['Q6', 'A6', 'R'])
  })

  test('what is kept and what is asked hold the call together, system and tools on one side alone', () => {
    const { call, cuts } = cutsOf({
      messages: [system(true), user('Q')],
      tools: [TOOL],
      tool_choice: 'required',
      temperature: 0.5,
      stream: true,
    })
    const [cut] = cuts ?? []
    expect(cut?.make(300)).toEqual({
      path: '/cachedContents',
      headers: {},
      body: {
        model: 'models/gemini-3-tides',
        systemInstruction: { parts: [{ text: 'S' }] },
        tools: [{ functionDeclarations: [{ name: 'tide' }] }],
        toolConfig: { functionCallingConfig: { mode: 'ANY' } },
        ttl: '300s',
      },
      dropped: [],
    })
    expect(cut?.bodyWith('cachedContents/c')).toEqual({
      cachedContent: 'cachedContents/c',
      contents: [{ role: 'user', parts: [{ text: 'Q' }] }],
      generationConfig: { temperature: 0.5 },
    })
    expect(call.dropped).toEqual(['cache_control'])
  })

  test.each<[string, object]>([
    ['a part', { messages: [{ role: 'user', content: [{ type: 'text', text: 'Q', ...LONG }] }] }],
    ['a message', { messages: [{ role: 'system', content: 'S', ...LONG }, user('Q')] }],
    ['a tool', { messages: [user('Q')], tools: [{ ...TOOL, ...LONG }] }],
    ['the body', { messages: [user('Q')], ...LONG }],
  ])('an hour is more than is kept, and named, on %s', (_, body) => {
    expect(cutsOf(body).call.dropped.toSorted()).toEqual(['cache_control', 'cache_control.ttl'])
  })

  test('an image counts as an image, not as its base64', () => {
    const image = {
      type: 'image_url',
      image_url: { url: `data:image/png;base64,iVBORw0KGgo${'A'.repeat(400_000)}` },
      ...mark,
    }
    const { cuts } = cutsOf({ messages: [{ role: 'user', content: [image, text('Q')] }] })
    expect(cuts?.[0]?.tokens).toBeLessThan(300)
    expect(cuts?.[0]?.tokens).toBeGreaterThan(257)
  })
})

describe('what Google says of caches', () => {
  test.each<[string, unknown, MadeContext | null]>([
    [
      'whole',
      { name: 'cachedContents/c', usageMetadata: { totalTokenCount: 5 } },
      { name: 'cachedContents/c', tokens: 5 },
    ],
    ['without a count', { name: 'c' }, { name: 'c', tokens: null }],
    ['without a name', { usageMetadata: {} }, null],
    ['no object', 'x', null],
  ])('%s', (_, body, wanted) => expect(contextCache.read(body)).toEqual(wanted))

  test.each<[number, string, isTooShort: boolean, isLost: boolean]>([
    [400, 'Cached content is too small. total_token_count=9, min_total_token_count=4096', true, true],
    [403, 'CachedContent not found (or permission denied)', false, true],
    [404, 'Not found: cached content metadata for 12.', false, true],
    [403, 'The caller does not have permission', false, false],
    [429, 'Resource has been exhausted', false, false],
  ])('%d %s', (status, reason, isTooShort, isLost) => {
    const error = new UpstreamError('caller', reason, { status })
    expect([contextCache.isTooShort(error), contextCache.isLost(error)]).toEqual([isTooShort, isLost])
  })
})
