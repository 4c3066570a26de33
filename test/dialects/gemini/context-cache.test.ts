import { describe, expect, test } from 'bun:test'
import { UpstreamError } from '../../../src/core/errors.ts'
import { chatIngress } from '../../../src/dialects/chat/index.ts'
import type { MadeContext } from '../../../src/dialects/dialect.ts'
import { buildGemini } from '../../../src/dialects/gemini/build.ts'
import { contextCache } from '../../../src/dialects/gemini/context-cache.ts'
import { attemptAt } from './attempt.ts'

const mark = { cache_control: { type: 'ephemeral' } }
const LONG = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const text = (words: string, marked = false) => ({ type: 'text', text: words, ...(marked ? mark : {}) })
const CALL = { id: 'call-1', type: 'function', function: { name: 'tide', arguments: '{}' } }
const TOOL = { type: 'function', function: { name: 'tide' } }

const breakpointsOf = (body: object, at: object = {}) => {
  const request = chatIngress.parse({ model: 'm', ...body }, new Headers())
  const call = buildGemini(request, attemptAt({ upstreamId: 'gemini-3-tides', ...at }))
  return { call, breakpoints: call.breakpoints?.() ?? null }
}

/** For each breakpoint: the texts in the cache, and the texts after it. */
const textsOf = (value: unknown): string[] =>
  [...JSON.stringify(value ?? []).matchAll(/"(?:text|output)":"([^"]*)"/g)].map((match) => match[1] ?? '')
const sides = (body: object) =>
  breakpointsOf(body)
    .breakpoints?.filter(({ isMarked }) => isMarked)
    .map((breakpoint) => [
      textsOf(breakpoint.make(300).body),
      textsOf(breakpoint.bodyWith('c')['contents']),
    ]) ?? null

const system = (marked: boolean) => ({ role: 'system', content: [text('S', marked)] })
const user = (words: string, marked = false) => ({ role: 'user', content: [text(words, marked)] })
const assistant = (words: string, marked = false) => ({ role: 'assistant', content: [text(words, marked)] })

describe('a truncated call', () => {
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
    ['nowhere if the last question is the first content', { messages: [user('Q', true)] }, []],
    [
      'behind an answer, where a question follows',
      { messages: [user('Q'), assistant('A', true), user('R')] },
      [[['Q', 'A'], ['R']]],
    ],
    [
      'before the question whose calls were answered last',
      {
        messages: [
          user('Q'),
          assistant('A'),
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
        messages: [system(true), user('Q', true), assistant('A', true), user('R', true)],
        cache_control: { type: 'ephemeral' },
      },
      [
        [['S'], ['Q', 'A', 'R']],
        [['S', 'Q', 'A'], ['R']],
      ],
    ],
    [
      'by the marker of the body',
      { messages: [user('Q'), assistant('A'), user('R')], cache_control: { type: 'ephemeral' } },
      [[['Q', 'A'], ['R']]],
    ],
  ])('%s', (_, body, wanted) => {
    expect(sides(body)).toEqual(wanted)
  })

  test('before each question up to the last marker, so that breakpoints of earlier turns are found', () => {
    const turns = (count: number) =>
      Array.from({ length: count }, (_, i) => [user(`Q${i}`), assistant(`A${i}`)]).flat()
    /** The content of each breakpoint, and whether it is marked. */
    const cutsAfter = (count: number) => {
      let held = ''
      const { breakpoints } = breakpointsOf({
        messages: [system(false), ...turns(count), user('R', true), assistant('X'), user('Y')],
      })
      return (breakpoints ?? []).map(({ adds, isMarked, tokens }) => {
        held += adds
        return { held, isMarked, tokens }
      })
    }
    const [short, long] = [cutsAfter(2), cutsAfter(4)]
    expect(short.map(({ isMarked }) => isMarked)).toEqual([false, false, true])
    expect(long.map(({ isMarked }) => isMarked)).toEqual([false, false, false, false, true])
    // Marked turns are found among unmarked ones.
    expect(long.slice(0, 3).map(({ held }) => held)).toEqual(short.map(({ held }) => held))
    expect(new Set(long.map(({ held }) => held)).size).toBe(5)
    expect(long.map(({ tokens }) => tokens)).toEqual(
      long.map(({ tokens }) => tokens).toSorted((x, y) => x - y),
    )
  })

  test.each<[string, object, object]>([
    ['the model', { messages: [system(true), user('Q')] }, { upstreamId: 'gemini-3-other' }],
    ['a tool', { messages: [system(true), user('Q')], tools: [TOOL] }, {}],
    [
      'the choice of a tool',
      { messages: [system(true), user('Q')], tools: [TOOL], tool_choice: 'required' },
      {},
    ],
    ['the system message', { messages: [{ role: 'system', content: [text('T', true)] }, user('Q')] }, {}],
  ])('%s makes another prefix', (_, body, at) => {
    const plain = breakpointsOf({ messages: [system(true), user('Q')] }).breakpoints?.[0]?.adds
    const other = breakpointsOf(body, at).breakpoints?.[0]?.adds
    expect(other).toBeString()
    expect(other).not.toBe(plain)
  })

  test('audio and video are never cached, nor any content after them', () => {
    const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
    const messages = [
      system(false),
      { role: 'user', content: [audio, text('Q')] },
      assistant('A'),
      user('R', true),
    ]
    expect(breakpointsOf({ messages }).breakpoints?.map(({ isMarked }) => isMarked)).toEqual([false])
  })

  test('prefix and rest together are the call, with system and tools on one side only', () => {
    const { call, breakpoints } = breakpointsOf({
      messages: [system(true), user('Q')],
      tools: [TOOL],
      tool_choice: 'required',
      temperature: 0.5,
      stream: true,
    })
    const [breakpoint] = breakpoints ?? []
    expect(breakpoint?.make(300)).toEqual({
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
    expect(breakpoint?.bodyWith('cachedContents/c')).toEqual({
      cachedContent: 'cachedContents/c',
      contents: [{ role: 'user', parts: [{ text: 'Q' }] }],
      generationConfig: { temperature: 0.5 },
    })
    expect(call.dropped).toEqual(['cache_control'])
  })

  test('a marker on a tool call is a breakpoint before the question, and is dropped by name', () => {
    const call = { ...CALL, ...LONG }
    const messages = [
      system(false),
      user('Q'),
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call-1', content: 'high' },
      user('R'),
    ]
    const { call: built, breakpoints } = breakpointsOf({ messages })
    expect(breakpoints?.map(({ isMarked }) => isMarked)).toEqual([true])
    expect(built.dropped.toSorted()).toEqual(['cache_control', 'cache_control.ttl'])
  })

  test('a PDF counts by its pages, a text by its length', () => {
    const file = (type: string, bytes: number) => ({
      type: 'file',
      file: { file_data: `data:${type};base64,${Buffer.alloc(bytes, 'x').toString('base64')}` },
      ...mark,
    })
    const tokensOf = (part: object) =>
      breakpointsOf({ messages: [{ role: 'user', content: [part, text('Q')] }] }).breakpoints?.[0]?.tokens
    expect(tokensOf(file('application/pdf', 290_000))).toBeCloseTo(6 * 258, -1)
    expect(tokensOf(file('text/plain', 40_000))).toBeCloseTo(10_000, -2)
  })

  test.each<[string, object]>([
    ['a part', { messages: [{ role: 'user', content: [{ type: 'text', text: 'Q', ...LONG }] }] }],
    ['a message', { messages: [{ role: 'system', content: 'S', ...LONG }, user('Q')] }],
    ['a tool', { messages: [user('Q')], tools: [{ ...TOOL, ...LONG }] }],
    ['the body', { messages: [user('Q')], ...LONG }],
  ])('a cache lifetime of an hour is dropped by name, on %s', (_, body) => {
    expect(breakpointsOf(body).call.dropped.toSorted()).toEqual(['cache_control', 'cache_control.ttl'])
  })

  test('an image counts as an image, not as its base64', () => {
    const image = {
      type: 'image_url',
      image_url: { url: `data:image/png;base64,iVBORw0KGgo${'A'.repeat(400_000)}` },
      ...mark,
    }
    const { breakpoints } = breakpointsOf({ messages: [{ role: 'user', content: [image, text('Q')] }] })
    expect(breakpoints?.[0]?.tokens).toBeLessThan(300)
    expect(breakpoints?.[0]?.tokens).toBeGreaterThan(257)
  })
})

describe('replies of Google about caches', () => {
  test.each<[string, unknown, MadeContext | null]>([
    [
      'complete',
      { name: 'cachedContents/c', usageMetadata: { totalTokenCount: 5 } },
      { name: 'cachedContents/c', tokens: 5 },
    ],
    ['without a count', { name: 'c' }, { name: 'c', tokens: null }],
    ['without a name', { usageMetadata: {} }, null],
    ['no object', 'x', null],
  ])('%s', (_, body, wanted) => expect(contextCache.read(body)).toEqual(wanted))

  test.each<[number, string, isTooShort: boolean]>([
    [400, 'Cached content is too small. total_token_count=9, min_total_token_count=4096', true],
    [400, 'The cached content is of 1171 tokens. The minimum token count to start caching is 4096.', true],
    [400, 'Invalid JSON payload received', false],
    [403, 'The caller does not have permission', false],
    [429, 'Resource has been exhausted', false],
  ])('%d %s', (status, reason, isTooShort) => {
    expect(contextCache.isTooShort(new UpstreamError('caller', reason, { status }))).toBe(isTooShort)
  })
})
