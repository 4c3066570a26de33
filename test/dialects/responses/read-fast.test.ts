import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { eachOf, type InferenceFrame } from '../../../src/core/events.ts'
import { readResponses } from '../../../src/dialects/responses/index.ts'
import { FIXTURES, hasTranscripts, loadRecordings, TRANSCRIPTS } from '../../recordings.ts'
import { upstreamReply } from '../../upstream-reply.ts'

interface Read {
  frames: InferenceFrame[]
  error: string | null
}

async function read(body: string | Uint8Array, fast: boolean, cuts: number[] = []): Promise<Read> {
  const frames: InferenceFrame[] = []
  try {
    for await (const batch of readResponses(upstreamReply(body, { cuts }), true, { fast })) {
      for (const frame of batch) frames.push(...eachOf(frame))
    }
  } catch (error) {
    return { frames, error: String(error) }
  }
  return { frames, error: null }
}

const eventsOf = ({ frames, error }: Read): string =>
  JSON.stringify({ events: frames.map((frame) => frame.events), error })

/** `plainText` has the text of the events. */
function checkPlain(frames: readonly InferenceFrame[]): number {
  const plain = frames.filter((frame) => frame.plainText !== undefined)
  for (const { events, plainText } of plain) {
    expect(events).toEqual([{ type: 'text-delta', choice: 0, text: JSON.parse(`"${plainText?.jsons}"`) }])
  }
  return plain.length
}

const START = 'data: {"type":"response.created","response":{"id":"r","status":"in_progress"}}\n\n'
const END =
  'data: {"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":1,"output_tokens":1}}}\n\n'

const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 8 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '',
      '"',
      '\\',
      '","delta":"',
      '"sequence_number":7',
      '\ud83c',
      '\u2028',
      '[DONE]',
    ),
  },
)

/** One event; most are alike, as in practice: each provider orders its fields differently. */
const shape = fc.record({
  order: fc.constantFrom('openai', 'xai', 'bare'),
  item: fc.constantFrom('msg_a', 'msg_b'),
  at: fc.constantFrom(0, 0, 0, 1),
  pad: fc.option(fc.stringMatching(/^[A-Za-z0-9]{0,6}$/)),
  kind: fc.constantFrom('output_text', 'output_text', 'output_text', 'refusal', 'reasoning_text'),
  more: fc.constantFrom('', '', '', ',"mood":"calm"', ',"logprobs":[{"token":"a"}]', ',"sequence_number":1'),
})
type Shape = typeof shape extends fc.Arbitrary<infer T> ? T : never

function eventText({ order, item, at, pad, kind, more }: Shape, delta: string, count: number): string {
  const type = `"type":"response.${kind}.delta"`
  const field = `"delta":${JSON.stringify(delta)}`
  const place = `"output_index":${at},"content_index":0`
  const padding = pad === null ? '' : `,"obfuscation":"${pad}"`
  const counter = `"sequence_number":${count}`
  const fields = {
    openai: `${type},${counter},"item_id":"${item}",${place},${field},"logprobs":[]${padding}`,
    xai: `${counter},${type},"content_index":0,${field},"item_id":"${item}","output_index":${at},"logprobs":[]`,
    bare: `${field},${type}`,
  }
  return `data: {${fields[order]}${more}}\n\n`
}

describe('the fast path', () => {
  test('returns the same as the slow path', async () => {
    let plain = 0
    let total = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(shape, fc.array(text, { minLength: 1, maxLength: 6 })), {
          minLength: 1,
          maxLength: 8,
        }),
        fc.array(fc.integer({ min: 1, max: 4_000 }), { maxLength: 3 }),
        async (runs, cuts) => {
          let count = 0
          const events = runs.flatMap(([form, texts]) =>
            texts.map((piece) => eventText({ ...form, pad: form.pad }, piece, count++)),
          )
          // The complete text is repeated, so a wrong count of emitted text would show.
          const done = `data: {"type":"response.output_text.done","output_index":0,"content_index":0,"text":"${'x'.repeat(60)}"}\n\n`
          const body = START + events.join('') + done + END
          const fast = await read(
            body,
            true,
            cuts.toSorted((a, b) => a - b),
          )
          expect(eventsOf(fast)).toBe(eventsOf(await read(body, false)))
          plain += checkPlain(fast.frames)
          total += fast.frames.length
        },
      ),
      { numRuns: 1_000, seed: 20_260_202 },
    )
    // The property proves nothing unless the fast path runs.
    expect(plain).toBeGreaterThan(total / 10)
  })

  const delta = (json: string, count: number, more = ''): string =>
    `data: {"type":"response.output_text.delta","sequence_number":${count},"item_id":"m","output_index":0,"content_index":0,"delta":"${json}","logprobs":[]${more}}\n\n`
  const jsonsOf = async (body: string) => {
    const { frames } = await read(START + body, true)
    return frames.slice(1).map((frame) => frame.plainText?.jsons.join(''))
  }

  test("hands on the provider's own text of the string", async () => {
    const pieces = ['a', '\\u00e9', '\\/', 'é', '\\n', '\\"']
    expect(await jsonsOf(pieces.map((json, i) => delta(json, i + 9)).join(''))).toEqual(pieces)
  })

  test('skips counters and padding', async () => {
    const pads = ['x', '', 'abc', 'q']
    const body = pads.map((pad, i) => delta(String(i), 8 + i, `,"obfuscation":"${pad}"`)).join('')
    expect(await jsonsOf(body)).toEqual(['0', '1', '2', '3'])
  })

  test.each([
    ['text with log probabilities', delta('a', 1).replace('[]', '[{"token":"a"}]')],
    ['a refusal', delta('a', 1).replaceAll('output_text', 'refusal')],
    ['reasoning', delta('a', 1).replaceAll('output_text', 'reasoning_text')],
  ])('does not run for %s', async (_, event) => {
    const { frames } = await read(START + event.repeat(3), true)
    expect(frames).toHaveLength(4)
    expect(frames.some((frame) => frame.plainText)).toBe(false)
  })

  const recordings = [
    ...loadRecordings(`${FIXTURES}/responses`),
    ...(hasTranscripts ? loadRecordings(TRANSCRIPTS) : []),
  ]
  const streams = recordings.filter(({ api, isStream }) => api === 'openai-responses' && isStream)
  test.each(streams.map((each) => [each.name, each] as const))('%s', async (name, { bytes }) => {
    const fast = await read(bytes, true)
    expect(eventsOf(fast)).toBe(eventsOf(await read(bytes, false)))
    const plain = checkPlain(fast.frames)
    const texts = fast.frames.filter(({ events }) => events[0]?.type === 'text-delta').length
    // Every event of Copilot's has an id of its own, and tokens with probabilities are not plain text.
    const isPlain = !/rotat|rotation|lmstudio|logprobs/.test(name)
    if (isPlain) expect(plain).toBeGreaterThanOrEqual(texts - 2)
  })
})
