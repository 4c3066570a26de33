import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { FrameBatch, InferenceEvent, InferenceFrames, JsonObject } from '../../../../src/core/events.ts'
import { call, detail, frame, piece, text, thought } from '../../../dialects/responses/frames.ts'
import { BLOCK, EMAIL, each, end, MAIL, MARK, of, only, pattern, read, refusal } from './changing.ts'
import { framesOf, guard, guardrailOf } from './guarding.ts'

const audio = (transcript: string): InferenceEvent => ({
  type: 'audio-delta',
  choice: 0,
  audio: { data: 'AAAA', transcript },
})

/** Every character of a text as an event of its own. */
const spelled = (make: (value: string) => InferenceEvent, value: string): InferenceEvent[] =>
  [...value].map(make)

describe('each kind of text is looked through by itself', () => {
  const written = `Write to ${MAIL}.`
  const rows: [kind: string, events: InferenceEvent[], path: (choice: JsonObject) => unknown][] = [
    ['text', spelled(text, written), ({ text: value }) => value],
    ['reasoning', spelled(thought, written), ({ reasoning }) => reasoning],
    ['refusal', spelled(refusal, written), ({ refusal: value }) => value],
    [
      'transcript',
      spelled(audio, written),
      ({ audio: value }) => JSON.parse(JSON.stringify(value)).transcript,
    ],
    [
      'free text of a custom tool',
      [call(0, 'note', { extra: { type: 'custom' } }), ...spelled((json) => piece(0, json), written)],
      ({ toolCalls }) => JSON.parse(JSON.stringify(toolCalls))[0].arguments,
    ],
    [
      'details of reasoning',
      [...written].flatMap((value) => [
        thought(value),
        detail({ type: 'reasoning.text', text: value, index: 0 }),
      ]),
      ({ reasoningDetails }) =>
        JSON.parse(JSON.stringify(reasoningDetails))
          .map((each: { text: string }) => each.text)
          .join(''),
    ],
  ]
  test.each(rows)('%s', async (_, events, path) => {
    const guarded = guard(framesOf(...each([...events, end()])), [EMAIL])
    expect(path({ ...(await only(guarded)) })).toBe(`Write to ${MARK}.`)
    expect(guarded.pipeline()).toMatchObject([
      {
        name: 'content-filter',
        guardrail_id: 'g',
        guardrail_scope: 'api-key',
        data: { filters: [{ name: 'email', action: 'redact' }], apply_to: 'output' },
      },
    ])
  })

  test('and none continues in another', async () => {
    const events = [
      thought('ann@'),
      text('site.example, ann@'),
      call(0, 'f'),
      piece(0, '{}'),
      text('site.example'),
    ]
    const choice = await only(guard(framesOf(...each([...events, end()])), [EMAIL]))
    expect([choice.reasoning, choice.text]).toEqual(['ann@', 'site.example, ann@site.example'])
  })
})

test('withheld text is sent before what follows it', async () => {
  const events = [
    thought('Hm'),
    text('One wor'),
    call(0, 'f'),
    piece(0, '{"a":"b c'),
    piece(0, '"}'),
    text('Two'),
    end(),
  ]
  const { events: passed } = await read(guard(framesOf(...each(events)), [EMAIL]))
  expect(
    passed.map((event) => ('text' in event ? event.text : 'json' in event ? event.json : event.type)),
  ).toEqual(['Hm', 'One ', 'wor', 'tool-call-start', '{"a":"b ', 'c"}', 'Two', 'response-end'])
})

describe('arguments stay JSON', () => {
  const rows: [json: string, filtered: string][] = [
    [`{"to":"${MAIL}","n":1}`, `{"to":"${MARK}","n":1}`],
    [String.raw`{"to":"ann\u0040site.example \"x\"\/"}`, String.raw`{"to":"[REDACTED:email] \"x\"\/"}`],
    [
      String.raw`{"a":"\ud83d\ude00\n${MAIL}\n\u00e9"}`,
      String.raw`{"a":"\ud83d\ude00\n[REDACTED:email]\n\u00e9"}`,
    ],
    [`{"${MAIL}": [true, null, 12]}`, `{"${MARK}": [true, null, 12]}`],
    ['{"a":"ann@","b":"site.example"}', '{"a":"ann@","b":"site.example"}'],
    [`  {"a" : {"b":["x ${MAIL}"]}}\n`, `  {"a" : {"b":["x ${MARK}"]}}\n`],
    [`{"broken": ${MAIL}`, `{"broken": "${MARK}"`],
    [`{"cut":"x ${MAIL}`, `{"cut":"x ${MARK}`],
    [String.raw`{"cut":"x\u00`, String.raw`{"cut":"x\u00`],
  ]
  test.each(rows)('%s', async (json, filtered) => {
    for (let at = 0; at <= json.length; at++) {
      const events = [call(0, 'f'), piece(0, json.slice(0, at)), piece(0, json.slice(at)), end('tool_calls')]
      const { toolCalls } = await only(guard(framesOf(...each(events)), [EMAIL]))
      expect(toolCalls[0]?.arguments).toBe(filtered)
    }
  })

  test('with placeholders that hold quotation marks, and numbers that are found', async () => {
    const guardrail = guardrailOf(
      [],
      [pattern({ pattern: String.raw`\d{8,}`, action: 'redact', label: 'a "number"' })],
    )
    const json = '{"a":123456789,"b":"12345678","c":1234567,"d":-1.5e3}'
    const { toolCalls } = await only(
      guard(framesOf(...each([call(0, 'f'), ...spelled((value) => piece(0, value), json), end()])), [
        guardrail,
      ]),
    )
    expect(JSON.parse(toolCalls[0]?.arguments ?? '')).toEqual({
      a: 'a "number"',
      b: 'a "number"',
      c: 1_234_567,
      d: -1500,
    })
  })

  test('whatever they say, and however they are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.json({ maxDepth: 3, stringUnit: 'binary' }),
        fc.array(fc.nat(), { maxLength: 8 }),
        async (value, places) => {
          const json = `[${value},"${MAIL}"]`
          const ends = [...new Set(places.map((place) => place % json.length))].sort((a, b) => a - b)
          const pieces = [...ends, json.length].map((to, index) => json.slice(ends[index - 1] ?? 0, to))
          const events = [call(0, 'f'), ...pieces.map((part) => piece(0, part)), end()]
          const { toolCalls } = await only(guard(framesOf(...each(events)), [EMAIL]))
          expect(toolCalls[0]?.arguments).toBe(`[${value},"${MARK}"]`)
        },
      ),
      { numRuns: 200 },
    )
  })

  test('of calls that come at the same time', async () => {
    const events = [
      call(0, 'f'),
      call(1, 'g'),
      piece(0, '{"a":"ann@'),
      piece(1, '{"b":"bob@'),
      piece(0, 'site.example"}'),
    ]
    const { toolCalls } = await only(
      guard(framesOf(...each([...events, piece(1, 'site.example"}'), end()])), [EMAIL]),
    )
    expect(toolCalls.map(({ arguments: json }) => json)).toEqual([`{"a":"${MARK}"}`, `{"b":"${MARK}"}`])
  })
})

describe('blocked texts', () => {
  test('ends the answer there, cancels the rest, and is reported', async () => {
    let isLeft = false
    async function* endless(): AsyncGenerator<FrameBatch> {
      try {
        yield [frame(text('The sec'))]
        yield [frame(text('ret is out')), frame(text('never'))]
        throw new Error('more was asked for')
      } finally {
        isLeft = true
      }
    }
    const guarded = guard(endless(), [BLOCK])
    const { choices } = await read(guarded)
    expect(choices).toMatchObject([
      { text: 'The ', finish: { choice: 0, reason: 'content_filter', native: null } },
    ])
    expect([isLeft, guarded.cancellation.reason !== null]).toEqual([true, true])
    expect(guarded.meter.finishes).toEqual([{ choice: 0, reason: 'content_filter', native: null }])
    expect(guarded.pipeline()).toMatchObject([{ data: { filters: [{ name: 'secret', action: 'block' }] } }])
  })

  test('where it is the last word', async () => {
    const { choices, events } = await read(guard(framesOf(...each([text('It is: secret'), end()])), [BLOCK]))
    expect(choices[0]).toMatchObject({ text: 'It is: ', finish: { reason: 'content_filter' } })
    expect(events.filter(({ type }) => type === 'response-end')).toHaveLength(1)
  })

  test.each([
    ['a reply that was not streamed', false],
    ['a stream', true],
  ])('the same in %s, with the other choices up to there', async (_, stream) => {
    const events = [of(0, text('A clean one')), of(1, text('No secret here')), of(2, text('Late'))]
    const guarded = guard(framesOf([frame(...events), frame(end('stop', 'stop', 'stop'))]), [BLOCK], {
      stream,
    })
    const { choices } = await read(guarded)
    expect(choices.map(({ text: written, finish }) => [written, finish.reason])).toEqual([
      ['A clean one', 'content_filter'],
      ['No ', 'content_filter'],
    ])
  })

  test('in arguments of tools', async () => {
    const events = [call(0, 'f'), piece(0, '{"a":"the sec'), piece(0, 'ret","b":1}'), end('tool_calls')]
    const { choices } = await read(guard(framesOf(...each(events)), [BLOCK]))
    expect(choices[0]).toMatchObject({
      toolCalls: [{ arguments: '{"a":"the ' }],
      finish: { reason: 'content_filter' },
    })
  })

  test('takes precedence over a redaction at the same place', async () => {
    const guardrails = [guardrailOf([], [pattern({ action: 'redact', pattern: 'the secret' })]), BLOCK]
    const { choices } = await read(guard(framesOf(...each([text('So the secret'), end()])), guardrails))
    expect(choices[0]?.text).toBe('So [REDACTED]')
    const same = [
      guardrailOf([], [pattern({ action: 'flag' })]),
      guardrailOf([], [pattern({ action: 'redact' })]),
      BLOCK,
    ]
    expect((await only(guard(framesOf(...each([text('a secret!'), end()])), same))).text).toBe('a ')
  })

  test('is what takes too long to look through', async () => {
    const hostile = guardrailOf(
      [],
      Array.from({ length: 40 }, (_, index) =>
        pattern({ pattern: `(?:a|b)*a(?:a|b){${50 + index}}c`, action: 'redact' }),
      ),
    )
    let seed = 7
    const bits = Array.from({ length: 40_000 }, () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
      return seed & 0x10000 ? 'a' : 'b'
    }).join('')
    const guarded = guard(framesOf(...each([...(bits.match(/.{1,40}/g) ?? []).map(text), end()])), [hostile])
    expect((await only(guarded)).finish.reason).toBe('content_filter')
    expect(guarded.pipeline()).toMatchObject([
      { summary: expect.stringContaining('too long'), data: { filters: [] } },
    ])
  })
})

test('a truncated answer still sends the withheld text, filtered, and stays truncated', async () => {
  async function* cut(): InferenceFrames extends AsyncIterable<infer B> ? AsyncGenerator<B> : never {
    yield [frame(text(`To ${MAIL} and bob@site`))]
    throw new Error('reset')
  }
  const { events, error } = await read(guard(cut(), [EMAIL]))
  expect(events.map((event) => ('text' in event ? event.text : event.type)).join('')).toBe(
    `To ${MARK} and bob@site`,
  )
  expect(String(error)).toContain('reset')
})
