import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { eachOf, type InferenceEvent, type InferenceFrame, plainFrame } from '../../src/core/events.ts'
import { readChat } from '../../src/dialects/chat/decode.ts'
import { writeChatStream } from '../../src/dialects/chat/write-stream.ts'
import { geminiIngress, geminiListIngress } from '../../src/dialects/gemini/index.ts'
import { messagesIngress } from '../../src/dialects/messages/index.ts'
import { readResponses } from '../../src/dialects/responses/index.ts'
import { writeResponsesStream } from '../../src/dialects/responses/write-stream.ts'
import { upstreamReply } from '../upstream-reply.ts'
import { REPLY } from './chat/chunks.ts'
import { chunk, data } from './chat/replies.ts'
import { CLOSING } from './replies.ts'

/** Events in one chunk that differ only in their text are read, metered and written together. */

const START = data(chunk({ role: 'assistant', content: '' }))
const jsonsOf = async (body: string, cuts: number[] = []) => {
  const frames: InferenceFrame[] = []
  for await (const batch of readChat(upstreamReply(body, { cuts }), true)) frames.push(...batch)
  return frames.flatMap(({ plainText }) => (plainText ? [plainText.jsons] : []))
}
const deltas = (...texts: string[]) => data(...texts.map((content) => chunk({ content })))
const END = data(chunk({}, 'stop'), '[DONE]')

describe('runs of text', () => {
  test('the first piece is parsed, and those after it are one frame', async () => {
    expect(await jsonsOf(START + deltas('a', 'b', 'c', 'd') + END)).toEqual([['a'], ['b', 'c', 'd']])
  })

  test('a frame has a bounded number of pieces', async () => {
    const texts = Array.from({ length: 300 }, (_, i) => `t${i}`)
    const jsons = await jsonsOf(START + deltas(...texts) + END)
    expect(jsons.map((each) => each.length)).toEqual([1, 128, 128, 43])
    expect(jsons.flat()).toEqual(texts)
  })

  test('another event ends a run, and the next run begins after it', async () => {
    const other = data(chunk({ content: 'x' }, null, { mood: 'calm' }))
    const body = `${START}${deltas('a', 'b')}: ping\n\n${deltas('c', 'd')}${other}${deltas('e', 'f')}${END}`
    expect(await jsonsOf(body)).toEqual([['a'], ['b'], ['c'], ['d'], ['e'], ['f']])
  })

  test('escapes stay as the provider wrote them; a piece that could end a line for a client is parsed', async () => {
    const quoted = START + deltas('a', '"b"\n', '\u0085c', 'd', 'e') + END
    expect(await jsonsOf(quoted)).toEqual([['a'], ['\\"b\\"\\n'], ['d', 'e']])
  })

  test.each([
    ['\r\n', [['a'], ['b', 'c']]],
    ['\r', [['a'], ['b'], ['c']]],
  ])('lines that end in %j', async (end, jsons) => {
    expect(await jsonsOf((START + deltas('a', 'b', 'c') + END).replaceAll('\n', end))).toEqual(jsons)
  })

  test('the events are the same wherever the stream is split', async () => {
    const body = START + deltas('a', 'b', 'long '.repeat(40), 'ü🌊', 'q"', 'z') + END
    const all = (await jsonsOf(body)).flat()
    for (let at = 1; at < Buffer.byteLength(body); at++)
      expect((await jsonsOf(body, [at])).flat()).toEqual(all)
  })

  test('counters and padding of responses are skipped', async () => {
    const delta = (text: string, count: number) =>
      `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"${text}","sequence_number":${count},"logprobs":[],"obfuscation":"${'x'.repeat(count)}"}\n\n`
    const frames: InferenceFrame[] = []
    const body = ['a', 'b', 'c'].map((text, i) => delta(text, i + 8)).join('')
    const end =
      'data: {"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":1}}}\n\n'
    for await (const batch of readResponses(upstreamReply(body + end), true)) frames.push(...batch)
    expect(frames.flatMap(({ plainText }) => (plainText ? [plainText.jsons] : []))).toEqual([
      ['a'],
      ['b', 'c'],
    ])
  })
})

const writers = {
  chat: () => writeChatStream(REPLY),
  responses: () => writeResponsesStream(REPLY),
  messages: () => messagesIngress.writeStream(REPLY),
  gemini: () => geminiIngress.writeStream(REPLY),
  'gemini as a list': () => geminiListIngress.writeStream(REPLY),
}

const piece = fc
  .string({ minLength: 1, maxLength: 6 })
  .map((text) => ({ text, json: JSON.stringify(text).slice(1, -1) }))
const run = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) =>
  plainFrame(
    pieces.map(({ text }) => text).join(''),
    pieces.map(({ json }) => json),
  ),
)
const other = fc
  .constantFrom<InferenceEvent[]>(
    [{ type: 'reasoning-delta', choice: 0, text: 'hm' }],
    [{ type: 'text-delta', choice: 0, text: 'parsed' }],
    [{ type: 'tool-call-start', choice: 0, index: 0, id: 'c', name: 'f' }],
    [{ type: 'tool-call-delta', choice: 0, index: 0, json: '{}' }],
  )
  .map((events): InferenceFrame => ({ events }))

test.each(Object.entries(writers))('%s: a run is written as its pieces are', (_, open) => {
  const write = (frames: readonly InferenceFrame[]) => {
    const writer = open()
    return frames.map((frame) => writer.write(frame)).join('') + writer.end(CLOSING)
  }
  fc.assert(
    fc.property(fc.array(fc.oneof({ weight: 3, arbitrary: run }, other), { maxLength: 8 }), (frames) => {
      expect(write(frames)).toBe(write(frames.flatMap((frame) => [...eachOf(frame)])))
    }),
    { numRuns: 300, seed: 20_261_122 },
  )
})
