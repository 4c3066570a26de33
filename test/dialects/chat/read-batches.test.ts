import { describe, expect, test } from 'bun:test'
import { UpstreamError } from '../../../src/core/errors.ts'
import { eachOf } from '../../../src/core/events.ts'
import { readChat } from '../../../src/dialects/chat/decode.ts'
import { upstreamReply } from '../../upstream-reply.ts'
import { chunk, data } from './replies.ts'

const STOP = chunk({}, 'stop', { usage: { prompt_tokens: 1, completion_tokens: 3 } })

describe('batches', () => {
  /** The number of frames in each batch, and the error after the last. */
  async function batchesOf(text: string, cuts: number[], streamed = true, fast = true) {
    const sizes: number[] = []
    const texts: string[] = []
    try {
      for await (const batch of readChat(upstreamReply(text, { cuts }), streamed, { fast })) {
        const frames = batch.flatMap((frame) => [...eachOf(frame)])
        sizes.push(frames.length)
        for (const event of frames.flatMap((frame) => frame.events))
          if (event.type === 'text-delta') texts.push(event.text)
      }
    } catch (error) {
      return { sizes, texts, error: error instanceof UpstreamError ? error.kind : error }
    }
    return { sizes, texts, error: null }
  }
  const words = (list: string[]) => data(...list.map((content) => chunk({ content })))
  const ABC = words(['a', 'b', 'c'])
  const BROKEN = JSON.stringify({ error: { message: 'broken', code: 500 } })
  const rows: [name: string, text: string, cuts: number[], sizes: number[], texts: string, error: unknown][] =
    [
      ['one read is one batch', ABC + data(STOP, '[DONE]'), [], [4, 1], 'abc', null],
      [
        'two reads are two, and the end is one of its own',
        ABC + data(STOP, '[DONE]'),
        [ABC.length],
        [3, 1, 1],
        'abc',
        null,
      ],
      [
        'a read that completes no event gives none',
        ABC + data(STOP, '[DONE]'),
        [3, 5, 9, ABC.length],
        [3, 1, 1],
        'abc',
        null,
      ],
      ['comments alone give none', `: wait\n\n${ABC}${data(STOP)}`, [8], [4, 1], 'abc', null],
      ['nothing after the marker counts', ABC + data(STOP, '[DONE]') + ABC, [], [4, 1], 'abc', null],
      ['an error comes after what came before it', ABC + data(BROKEN) + ABC, [], [3], 'abc', 'server'],
      [
        'text in the chunk of the error comes before it',
        ABC + data({ ...chunk({ content: 'd' }), error: { message: 'broken', code: 500 } }) + ABC,
        [],
        [4],
        'abcd',
        'server',
      ],
      ['an event that is not JSON does too', `${ABC}data: {"choices\n\n${ABC}`, [], [3], 'abc', 'malformed'],
      ['a named error', `${ABC}event: error\ndata: ${BROKEN}\n\n`, [], [3], 'abc', 'server'],
      ['an end without a finish', ABC, [], [3], 'abc', 'truncated'],
      ['half an event at the end', `${ABC}data: {"choi`, [], [3], 'abc', 'truncated'],
      ['a tail without its blank line', (ABC + data(STOP)).trimEnd(), [], [3, 1, 1], 'abc', null],
    ]
  for (const fast of [true, false]) {
    test.each(rows)(`%s (${fast ? 'fast' : 'slow'})`, async (_, text, cuts, sizes, texts, error) => {
      const { texts: parts, ...read } = await batchesOf(text, cuts, true, fast)
      expect({ ...read, texts: parts.join('') }).toEqual({ sizes, texts, error })
    })
  }

  test('a long read is emitted in parts, in order', async () => {
    const list = Array.from({ length: 40 }, (_, i) => `${i}:${'x'.repeat(16_000)}`)
    const { sizes, texts, error } = await batchesOf(words(list) + data(STOP, '[DONE]'), [])
    expect(error).toBeNull()
    expect(sizes.slice(0, -1).every((size) => size >= 3 && size <= 5)).toBe(true)
    expect(sizes.at(-1)).toBe(1)
    expect(texts).toEqual(list)
  })

  test('a stream in reply to a unary request is read in batches too', async () => {
    const { sizes, texts } = await batchesOf(ABC + data(STOP, '[DONE]'), [], false)
    expect({ sizes, texts: texts.join('') }).toEqual({ sizes: [4, 1], texts: 'abc' })
  })
})
