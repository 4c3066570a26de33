import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Message } from '../../../src/core/request.ts'
import { type Compressed, compress } from '../../../src/plugins/context-compression/compress.ts'
import { estimatedTokens, messageTokens } from '../../../src/plugins/context-compression/tokens.ts'
import { unitsOf } from '../../../src/plugins/context-compression/turns.ts'
import { runs } from '../../exhaustive.ts'
import { conversation, count } from './conversations.ts'

const tokensOf = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + messageTokens(message, count), 0)

/** Where each message that is left stood. */
const placesOf = (left: readonly Message[]): unknown[] => left.map(({ extra }) => extra?.['at'])

/** Conversations with a bound that is too small for them. */
const tooLong = fc
  .tuple(conversation, fc.integer({ min: 0, max: 100 }))
  .map(([messages, share]) => ({ messages, most: Math.floor((tokensOf(messages) * share) / 101) }))

const unpaced = (): undefined => undefined

const everyConversation = (
  check: (messages: Message[], most: number, result: Compressed) => void | Promise<void>,
): Promise<void> =>
  fc.assert(
    fc.asyncProperty(tooLong, async ({ messages, most }) => {
      const result = await compress(messages, most, count)
      if (result === null) throw new Error('it is too long')
      await check(messages, most, result)
    }),
    { seed: 17, numRuns: runs(5_000, 100_000) },
  )

describe('of 5,000 conversations', () => {
  test('each fits, unless what must stay is too long alone', async () => {
    await everyConversation(async (messages, most, { messages: left, fits, tokensAfter }) => {
      expect(tokensAfter).toBe(tokensOf(left))
      expect(fits).toBe(tokensAfter <= most)
      if (fits) return
      // Then nothing is left that could go: each text that may be cut is cut, and no image is there.
      const units = await unitsOf(messages, unpaced)
      const last = units.at(-1)?.turn ?? 0
      const kept = units.filter((unit) => unit.indexes.some((at) => left.includes(messages[at]!)))
      expect(kept.every(({ turn }) => turn === last || turn === 0)).toBe(true)
      for (const { role, content } of left) {
        if (role === 'system' || content === null) continue
        const texts =
          typeof content === 'string'
            ? [content]
            : content.flatMap((part) => (part.type === 'text' ? [part.text] : ['image']))
        for (const text of texts) expect(text.length).toBeLessThanOrEqual(200)
      }
    })
  })

  test('each keeps its order, its instructions, its first question and its last message', async () => {
    await everyConversation((messages, _, { messages: left, leftOut }) => {
      const places = placesOf(left)
      expect(places).toEqual([...places].sort((a, b) => Number(a) - Number(b)))
      expect(left.length + leftOut.messages).toBe(messages.length)
      for (const [i, message] of messages.entries())
        if (message.role === 'system') expect(places).toContain(i)
      const first = messages.findIndex(({ role }) => role === 'user')
      if (first !== -1) expect(places).toContain(first)
      const last = messages.findLastIndex(({ role }) => role !== 'system')
      if (last !== -1) expect(places).toContain(last)
    })
  })

  test('each call keeps its results, and each thought its signature', async () => {
    await everyConversation((messages, _, { messages: left }) => {
      const called = new Set(left.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)))
      const answered = new Set(left.flatMap(({ toolCallId }) => toolCallId ?? []))
      expect(answered).toEqual(called)
      const details = new Set(messages.map(({ reasoningDetails }) => reasoningDetails))
      for (const { reasoningDetails, reasoning } of left) {
        expect(details.has(reasoningDetails)).toBe(true)
        expect(reasoning === undefined).toBe(reasoningDetails === undefined)
      }
    })
  })

  test('each that was shortened fits when it comes again', async () => {
    await everyConversation(async (_, most, { messages, fits }) => {
      if (fits) expect(await compress(messages, most, count)).toBeNull()
    })
  })
})

const turn = (text: string): Message[] => [
  { role: 'user', content: `question ${text}` },
  { role: 'assistant', content: `answer ${text}` },
]
const contents = (result: Compressed | null): unknown[] =>
  result?.messages.map(({ content }) => content) ?? []

describe('what goes first', () => {
  const five = ['1', '2', '3', '4', '5'].flatMap(turn)

  test('is the turn in the middle, then its neighbours', async () => {
    const without = (some: number) => compress(five, tokensOf(five) - 16 * some + 4, count)
    expect(contents(await without(1))).toEqual(
      [...turn('1'), ...turn('2'), ...turn('4'), ...turn('5')].map(({ content }) => content),
    )
    expect(contents(await without(3))).toEqual([...turn('1'), ...turn('5')].map(({ content }) => content))
  })

  test('are images of the middle, before its words', async () => {
    const image = { type: 'image', url: 'https://site.example/a.png' } as const
    const shown: Message = { role: 'user', content: [image, { type: 'text', text: 'what is it?' }] }
    const messages = [shown, ...turn('1'), shown, ...turn('2'), shown]
    const result = await compress(messages, tokensOf(messages) - 200, count)
    expect(contents(result)[3]).toEqual([
      { type: 'text', text: '[image left out]' },
      { type: 'text', text: 'what is it?' },
    ])
    expect(result?.messages[0]).toBe(shown)
    expect(result?.messages.at(-1)).toBe(shown)
    expect(result?.leftOut).toEqual({ messages: 0, media: 1, characters: 0 })
  })

  test('are calls in the middle of the last turn, with their results', async () => {
    const step = (id: string): Message[] => [
      { role: 'assistant', content: null, toolCalls: [{ id, name: 'look', arguments: '{}' }] },
      { role: 'tool', content: `result ${id}`, toolCallId: id },
    ]
    const messages = [
      { role: 'user' as const, content: 'go' },
      ...step('a'),
      ...step('b'),
      ...step('c'),
      ...step('d'),
    ]
    const result = await compress(messages, tokensOf(messages) - 5, count)
    expect(result?.messages.flatMap(({ toolCallId }) => toolCallId ?? [])).toEqual(['a', 'c', 'd'])
  })

  test('is the middle of a long result, before that of a question', async () => {
    const messages: Message[] = [
      { role: 'user', content: 'q'.repeat(3_000) },
      { role: 'assistant', content: null, toolCalls: [{ id: 'a', name: 'look', arguments: '{}' }] },
      { role: 'tool', content: `${'r'.repeat(3_000)}end`, toolCallId: 'a' },
    ]
    const result = await compress(messages, tokensOf(messages) - 500, count)
    expect(result?.messages[0]).toBe(messages[0]!)
    expect(contents(result)[2]).toMatch(/^r+\[… \d+ characters left out …\]r+end$/)
    expect(result?.fits).toBe(true)
  })
})

test('a conversation that fits stays the same', async () => {
  expect(await compress(turn('1'), 1_000, count)).toBeNull()
})

test('the estimate of tokens is near what tokenizers count', () => {
  expect(estimatedTokens('The quick brown fox jumps over the lazy dog.')).toBe(11)
  expect(estimatedTokens('internationalization')).toBe(5)
  expect(estimatedTokens('漢字')).toBe(3)
  expect(estimatedTokens('1234567')).toBe(4)
  expect(estimatedTokens('')).toBe(0)
})

test('a long conversation is shortened in steps, between which the event loop goes on', async () => {
  const messages = Array.from({ length: 100_000 }, (_, i) => turn(`${i}`)).flat()
  let turns = 0
  let isDone = false
  const look = (): void => {
    turns += 1
    if (!isDone) setImmediate(look)
  }
  setImmediate(look)
  const result = await compress(messages, 4_000, count)
  isDone = true
  expect(result?.fits).toBe(true)
  expect(turns).toBeGreaterThan(3)
})
