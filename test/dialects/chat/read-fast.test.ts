import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { eachOf, type InferenceFrame } from '../../../src/core/events.ts'
import { readChat } from '../../../src/dialects/chat/decode.ts'
import { readJsonString } from '../../../src/dialects/json-text.ts'
import { runs } from '../../exhaustive.ts'
import { upstreamReply } from '../../upstream-reply.ts'

interface Read {
  frames: InferenceFrame[]
  error: string | null
}

async function read(body: string, fast: boolean, cuts: number[] = []): Promise<Read> {
  const frames: InferenceFrame[] = []
  try {
    for await (const batch of readChat(upstreamReply(body, { cuts }), true, { fast }))
      for (const frame of batch) frames.push(...eachOf(frame))
  } catch (error) {
    return { frames, error: String(error) }
  }
  return { frames, error: null }
}

const eventsOf = ({ frames, error }: Read) => ({ events: frames.map((frame) => frame.events), error })

/** A JSON string as a provider may write it: escaped more than needed, or not at all. */
const quoted = (text: string, escapes: 'none' | 'unicode' | 'solidus'): string => {
  const json = JSON.stringify(text)
  if (escapes === 'none') return json
  if (escapes === 'solidus') return json.replaceAll('/', '\\/')
  return json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 8 }) },
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '',
      '"',
      '\\',
      '\\"',
      '"},"finish_reason":null}]}',
      ',"p":"',
      '{"content":"x"}',
      '\ud83c\udf0a',
      '\ud83c',
      '\u2028',
      '[DONE]',
      '\n\ndata: [DONE]\n\n',
    ),
  },
)
const padding = fc.stringMatching(/^[A-Za-z0-9]{0,6}$/)

/** One event of a stream; most are alike, as in practice. */
const event = fc.record({
  text: fc.oneof(
    { weight: 8, arbitrary: text },
    { weight: 1, arbitrary: fc.constantFrom(null, 7, ['x'], { content: 'x' }) },
  ),
  escapes: fc.constantFrom<('none' | 'unicode' | 'solidus')[]>('none', 'none', 'unicode', 'solidus'),
  index: fc.constantFrom(0, 0, 0, 0, 0, 0, 1),
  head: fc.constantFrom(
    '',
    '',
    '',
    '',
    '"service_tier":"default",',
    '"x":{"content":"y"},',
    '"content":"z",',
  ),
  fingerprint: fc.constantFrom('fp_1', 'fp_1', 'fp_1', 'fp_1', 'fp_2', null),
  inDelta: fc.constantFrom(
    '',
    '',
    '',
    '',
    '',
    ',"role":"assistant"',
    ',"tool_calls":null',
    ',"tool_calls":[]',
    ',"tool_calls":[{"function":{"arguments":"{"}}]',
    ',"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]',
    ',"tool_calls":[{"function":{"name":"f"}}]',
    ',"reasoning":"r"',
    ',"note":null',
    ',"note":"n"',
    ',"content":"twice"',
    ',"refusal":""',
  ),
  finish: fc.constantFrom('null', 'null', 'null', 'null', 'null', 'null', '"stop"', '""', '"error"'),
  logprobs: fc.constantFrom('null', 'null', 'null', '{"content":[{"token":"a","logprob":-1}]}'),
  tail: fc.constantFrom(
    '',
    '',
    '',
    '',
    ',"usage":null',
    ',"usage":{"prompt_tokens":1,"completion_tokens":2}',
    ',"citations":["https://a.example"]',
    ',"error":{"message":"broken","code":500}',
  ),
  pad: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 3, arbitrary: padding }),
  after: fc.constantFrom('', '', ',"z":"v"', ',"z":"w"', ',"z":3'),
  padName: fc.constantFrom('obfuscation', 'obfuscation', 'p'),
  blank: fc.constantFrom('', '', '', '', ' '),
  broken: fc.constantFrom<((json: string) => string)[]>(
    ...Array.from({ length: 60 }, () => (json: string) => json),
    (json) => json.slice(0, -1),
    (json) => json.replace('"content":"', '"content":"\\x'),
    (json) => json.replace('"content":"', '"content":"\t'),
    (json) => json.replace('"content":', '"con\\u0074ent":'),
    (json) => `${json}}`,
    () => '',
    () => '[]',
    () => '{"choices":[]}',
  ),
})

type Event = typeof event extends fc.Arbitrary<infer T> ? T : never

function lineOf(e: Event): string {
  const content = typeof e.text === 'string' ? quoted(e.text, e.escapes) : JSON.stringify(e.text)
  const fingerprint = e.fingerprint === null ? '' : `"system_fingerprint":"${e.fingerprint}",`
  const pad = e.pad === null ? '' : `,"${e.padName}":${e.blank}"${e.pad}"`
  return e.broken(
    `{"id":"fx","object":"chat.completion.chunk","created":1,"model":"m",${e.head}${fingerprint}` +
      `"choices":[{"index":${e.index},"delta":{"content":${e.blank}${content}${e.inDelta}},` +
      `"logprobs":${e.logprobs},"finish_reason":${e.finish}}]${e.tail}${pad}${e.after}}`,
  )
}

test('the inside of a JSON string is distinguished from other text', () => {
  const inside = /^(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/
  const unit = fc.constantFrom(
    ...'"\\/bnux 09aF,:[]{}\t\n\u0000\u001f\u007f\u0085é\u2028',
    '\ud83c',
    '🌊',
    '\\u00e9',
  )
  let strings = 0
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 8 }), (json) => {
      const isString = inside.test(json)
      if (isString) strings++
      expect(readJsonString(json)).toBe(isString ? JSON.parse(`"${json}"`) : undefined)
    }),
    { numRuns: runs(3_000, 20_000), seed: 20_260_102 },
  )
  expect(strings).toBeGreaterThan(1_000)
})

describe('the fast path', () => {
  test('returns the same as the slow path, for any input', async () => {
    let plain = 0
    let total = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 6 }),
        fc.array(fc.integer({ min: 1, max: 4_000 }), { maxLength: 4 }),
        async (list, times, cuts) => {
          // A run of events that differ only in their text: the fast path is for these.
          const runs = list.flatMap((one) =>
            list.slice(0, times).map(({ text, broken, after, inDelta, pad }, i) => ({
              ...one,
              text,
              broken,
              pad: one.pad === null ? null : pad,
              // Now and then something else changes too.
              ...(i === 2 ? { after, inDelta } : {}),
            })),
          )
          const body = [...runs, ...list].map((one) => `data: ${lineOf(one)}\n\n`).join('')
          const fast = await read(
            `${body}data: [DONE]\n\n`,
            true,
            cuts.toSorted((a, b) => a - b),
          )
          const slow = await read(`${body}data: [DONE]\n\n`, false)
          expect(JSON.stringify(eventsOf(fast)).replace(/call_[0-9a-f]{32}/g, 'id')).toBe(
            JSON.stringify(eventsOf(slow)).replace(/call_[0-9a-f]{32}/g, 'id'),
          )
          for (const { events, plainText } of fast.frames) {
            total++
            if (!plainText) continue
            plain++
            expect(events).toEqual([
              { type: 'text-delta', choice: 0, text: JSON.parse(`"${plainText.jsons}"`) },
            ])
          }
          expect(slow.frames.every((frame) => frame.plainText === undefined)).toBe(true)
        },
      ),
      { numRuns: runs(1_000, 3_000), seed: 20_260_101 },
    )
    // The property proves nothing unless the fast path runs.
    expect(plain).toBeGreaterThan(total / 10)
  })

  const chunk = (delta: string, more = '') =>
    `data: {"id":"fx","created":1,"model":"m","choices":[{"index":0,"delta":{${delta}},"finish_reason":null}]${more}}\n\n`
  const jsonsOf = async (body: string) =>
    (await read(body, true)).frames.map((frame) => frame.plainText?.jsons.join(''))

  test("hands on the provider's own text of the string", async () => {
    const body =
      chunk('"role":"assistant"') +
      ['a', '\\u00e9', '\\/', 'é', '\\n'].map((json) => chunk(`"content":"${json}"`)).join('')
    expect(await jsonsOf(body)).toEqual([undefined, 'a', '\\u00e9', '\\/', 'é', '\\n'])
  })

  test('runs beside padding, repeated fingerprints and empty lists', async () => {
    const repeated = ',"system_fingerprint":"fp","usage":null'
    const body =
      chunk('"role":"assistant","content":""', repeated) +
      ['x', '', 'abc', 'q']
        .map((pad, i) => chunk(`"content":"${i}","tool_calls":[]`, `${repeated},"obfuscation":"${pad}"`))
        .join('')
    expect(await jsonsOf(body)).toEqual([undefined, '0', '1', '2', '3'])
  })

  test('a field of the same name elsewhere is not the text', async () => {
    const hidden = (inner: string) =>
      `data: {"id":"i","model":"m","x":{"content":"${inner}"},"choices":[{"index":0,"delta":{"con\\u0074ent":"a"}}]}\n\n`
    const { frames } = await read(hidden('a') + hidden('a') + hidden('b'), true)
    expect(frames.map((frame) => frame.events.find((event) => event.type === 'text-delta')?.text)).toEqual([
      'a',
      'a',
      'a',
    ])
    expect(frames[2]?.events.map((event) => event.type)).toEqual(['text-delta', 'native'])
  })

  const never: [name: string, body: string][] = [
    [
      'text of another choice',
      'data: {"model":"m","id":"i","choices":[{"index":1,"delta":{"content":"a"}}]}\n\n'.repeat(3),
    ],
    [
      'text with log probabilities',
      'data: {"model":"m","id":"i","choices":[{"index":0,"delta":{"content":"a"},"logprobs":{"content":[{"token":"a"}]}}]}\n\n'.repeat(
        3,
      ),
    ],
    [
      'text beside a running total',
      chunk('"content":"a"', ',"usage":{"prompt_tokens":1,"completion_tokens":1}').repeat(3),
    ],
    ['text in parts', chunk('"content":[{"type":"text","text":"a"}]').repeat(3)],
    ['text beside an unknown field', chunk('"content":"a","mood":"calm"').repeat(3)],
  ]
  test.each(never)('does not run for %s', async (_, body) => {
    const { frames } = await read(body, true)
    expect(frames.length).toBe(3)
    expect(frames.some((frame) => frame.plainText)).toBe(false)
  })

  test('an empty delta emits nothing', async () => {
    const { frames } = await read(
      chunk('"content":"a"') + chunk('"content":""') + chunk('"content":"b"'),
      true,
    )
    expect(frames.map((frame) => frame.events.at(-1))).toEqual([
      { type: 'text-delta', choice: 0, text: 'a' },
      { type: 'text-delta', choice: 0, text: 'b' },
    ])
  })
})
