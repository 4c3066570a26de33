import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { FrameBatch, InferenceEvent, InferenceFrames, JsonObject } from '../../../../src/core/events.ts'
import type { PatternEntry } from '../../../../src/filters/compile.ts'
import { objectOf } from '../../../../src/http/json.ts'
import { collect } from '../../../../src/inference/reply/collect.ts'
import { readStream, writtenStream } from '../../../dialects/messages/written.ts'
import { call, detail, frame, piece, text, thought } from '../../../dialects/responses/frames.ts'
import { framesOf, type Guarded, guard, guardrailOf } from './guarding.ts'

/** What filters make of answers: of each kind of text, of several choices, and of what ends too early. */

const EMAIL = guardrailOf([{ slug: 'email', action: 'redact', appliesTo: 'output' }], [])
const MARK = '[REDACTED:email]'
const MAIL = 'ann@site.example'
const pattern = (more: Partial<PatternEntry>): PatternEntry => ({
  pattern: 'secret',
  action: 'block',
  appliesTo: 'output',
  ...more,
})
const BLOCK = guardrailOf([], [pattern({})])

const end = (...reasons: ('stop' | 'tool_calls')[]): InferenceEvent => ({
  type: 'response-end',
  finishes: (reasons.length === 0 ? (['stop'] as const) : reasons).map((reason, choice) => ({
    choice,
    reason,
    native: reason,
  })),
})
const audio = (transcript: string): InferenceEvent => ({
  type: 'audio-delta',
  choice: 0,
  audio: { data: 'AAAA', transcript },
})
const refusal = (value: string): InferenceEvent => ({ type: 'refusal-delta', choice: 0, text: value })
const of = (choice: number, event: InferenceEvent): InferenceEvent =>
  'choice' in event ? { ...event, choice } : event

/** Every character of a text as an event of its own. */
const spelled = (make: (value: string) => InferenceEvent, value: string): InferenceEvent[] =>
  [...value].map(make)

const each = (events: readonly InferenceEvent[]): FrameBatch[] => events.map((event) => [frame(event)])

async function read({ frames }: Pick<Guarded, 'frames'>) {
  const events: InferenceEvent[] = []
  let error: unknown
  const told = (async function* () {
    try {
      for await (const batch of frames) {
        for (const { events: own } of batch) events.push(...own)
        yield batch
      }
    } catch (caught) {
      error = caught
    }
  })()
  const { choices } = await collect(told, () => undefined)
  return { events, choices, error }
}

const only = async (guarded: Guarded) => {
  const { choices } = await read(guarded)
  const [choice] = choices
  if (!choice) throw new Error('no choice came')
  return choice
}

describe('each kind of text is looked through by itself', () => {
  const said = `Write to ${MAIL}.`
  const rows: [kind: string, events: InferenceEvent[], path: (choice: JsonObject) => unknown][] = [
    ['text', spelled(text, said), ({ text: value }) => value],
    ['reasoning', spelled(thought, said), ({ reasoning }) => reasoning],
    ['refusal', spelled(refusal, said), ({ refusal: value }) => value],
    ['transcript', spelled(audio, said), ({ audio: value }) => JSON.parse(JSON.stringify(value)).transcript],
    [
      'free text of a custom tool',
      [call(0, 'note', { extra: { type: 'custom' } }), ...spelled((json) => piece(0, json), said)],
      ({ toolCalls }) => JSON.parse(JSON.stringify(toolCalls))[0].arguments,
    ],
    [
      'details of reasoning',
      [...said].flatMap((value) => [
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

  test('and none goes on in another', async () => {
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

test('what was held back comes before what follows it', async () => {
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

describe('what is blocked', () => {
  test('ends the answer there, asks for no more of it, and is told', async () => {
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
    expect(choices.map(({ text: said, finish }) => [said, finish.reason])).toEqual([
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

  test('beats what is redacted at the same place', async () => {
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

test('an answer that breaks off gives what was held back, filtered, and still breaks off', async () => {
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

describe('what stands beside a text', () => {
  test('the signature of a thought that was changed is left out', async () => {
    const signed = detail({ type: 'reasoning.text', signature: 's', index: 0 })
    const other = detail({ type: 'reasoning.text', signature: 't', index: 1 })
    const events = [
      thought(`Is it ${MAIL}?`),
      detail({ type: 'reasoning.text', text: `Is it ${MAIL}?`, index: 0 }),
      signed,
      thought('No.'),
      detail({ type: 'reasoning.text', text: 'No.', index: 1 }),
      other,
      end(),
    ]
    const guarded = guard(framesOf(...each(events)), [EMAIL])
    const { reasoningDetails } = await only(guarded)
    expect(reasoningDetails.map(({ text: said, signature }) => [said, signature])).toEqual([
      ['Is it ', undefined],
      [`${MARK}?`, undefined],
      ['No.', undefined],
      [undefined, 't'],
    ])
    expect(guarded.dropped).toEqual(['reasoning_details.signature'])
  })

  test('citations move along with it, and are filtered', async () => {
    const cited = (startIndex: number, endIndex: number, title: string): InferenceEvent => ({
      type: 'annotation',
      choice: 0,
      annotation: { type: 'url_citation', url: 'https://site.example', title, startIndex, endIndex },
    })
    const events = [text(`To ${MAIL}: yes`), cited(0, 2, 'First'), cited(21, 24, MAIL), text('. '), end()]
    const { annotations, text: said } = await only(guard(framesOf(...each(events)), [EMAIL]))
    expect(said).toBe(`To ${MARK}: yes. `)
    expect(annotations).toMatchObject([
      { startIndex: 0, endIndex: 2, title: 'First' },
      { startIndex: said.indexOf('yes'), endIndex: said.indexOf('yes') + 3, title: MARK },
    ])
  })

  test('probabilities of tokens are left out, and that is told', async () => {
    const logprobs: InferenceEvent = { type: 'logprobs', choice: 0, logprobs: { content: [{ token: 'x' }] } }
    const guarded = guard(framesOf([frame(text('Hi. '), logprobs)], [frame(end())]), [EMAIL])
    expect((await only(guarded)).logprobs).toBe(null)
    expect(guarded.dropped).toEqual(['logprobs'])
    const flag = guardrailOf([{ slug: 'email', action: 'flag', appliesTo: 'output' }], [])
    expect(
      (await only(guard(framesOf([frame(text('Hi'), logprobs), frame(end())]), [flag]))).logprobs,
    ).not.toBe(null)
  })
})

test('a filter that only records changes nothing, holds nothing back, and finds what is split', async () => {
  const flag = guardrailOf([{ slug: 'email', action: 'flag', appliesTo: 'output' }], [])
  const frames = each([text('To ann@si'), text('te.example now'), call(0, 'f'), piece(0, '{"a":1'), end()])
  const guarded = guard(framesOf(...frames), [flag])
  const batches: FrameBatch[] = []
  for await (const batch of guarded.frames) batches.push(batch)
  expect(batches).toEqual(frames)
  expect(batches.every(([own], at) => own === frames[at]?.[0])).toBe(true)
  expect(guarded.pipeline()).toMatchObject([{ data: { filters: [{ name: 'email', action: 'flag' }] } }])
})

test('what nothing is held back of goes on as it came, the fast path with it', async () => {
  const plain = { events: [text('Hello, ')], plainText: { jsons: ['Hello, '] } }
  const guarded = guard(
    framesOf([plain], [{ events: [text('ann@site.example. ')], plainText: { jsons: ['raw'] } }]),
    [EMAIL],
  )
  const frames = []
  for await (const batch of guarded.frames) frames.push(...batch)
  expect(frames[0]).toBe(plain)
  expect(frames.slice(1).some(({ plainText }) => plainText !== undefined)).toBe(false)
})

test('filters on what is asked alone, and no filters, give back the same frames', () => {
  const frames = framesOf([frame(end())])
  const input = guardrailOf([{ slug: 'email', action: 'redact' }], [])
  expect(guard(frames, [input]).frames).toBe(frames)
  expect(guard(frames, []).frames).toBe(frames)
})

describe('what a provider of the same dialect says beside neutral events', () => {
  const native = (event: JsonObject): InferenceEvent => ({
    type: 'native',
    dialect: 'messages',
    data: { event },
  })
  const start = (index: number, content_block: JsonObject) =>
    native({ type: 'content_block_start', index, content_block })
  const delta = (index: number, more: JsonObject) =>
    native({ type: 'content_block_delta', index, delta: more })
  const stop = (index: number) => native({ type: 'content_block_stop', index })
  const relayed = async (...frames: InferenceEvent[][]) => {
    const guarded = guard(framesOf(...frames.map((events) => [frame(...events)])), [EMAIL, BLOCK], {
      dialect: 'messages',
    })
    return { guarded, message: await readStream(await writtenStream(guarded.frames)) }
  }
  const stopped = native({ type: 'message_delta', delta: { stop_reason: 'end_turn' } })
  const begun = native({ type: 'message_start', message: { content: [{ type: 'text', text: MAIL }] } })

  test('blocks stay, and their texts are filtered', async () => {
    const { message } = await relayed(
      [begun],
      [start(0, { type: 'thinking', thinking: '', signature: '' })],
      [delta(0, { type: 'thinking_delta', thinking: 'Is it ann@' }), thought('Is it ann@')],
      [delta(0, { type: 'thinking_delta', thinking: 'site.example' }), thought('site.example')],
      [stop(0)],
      [start(1, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} })],
      [delta(1, { type: 'input_json_delta', partial_json: '{"query":"who is ann@' })],
      [delta(1, { type: 'input_json_delta', partial_json: 'site.example"}' })],
      [stop(1)],
      [
        start(2, {
          type: 'web_search_tool_result',
          tool_use_id: 's',
          content: [{ type: 'web_search_result', title: MAIL, url: 'u', encrypted_content: MAIL }],
        }),
      ],
      [stop(2)],
      [start(3, { type: 'text', text: 'To ', citations: null }), text('To ')],
      [text('ann@site')],
      [text('.example')],
      [delta(3, { type: 'citations_delta', citation: { type: 'char_location', cited_text: `at ${MAIL}` } })],
      [stop(3)],
      [start(4, { type: 'tool_use', id: 't', name: 'f', input: {} }), call(0, 'f')],
      [delta(4, { type: 'input_json_delta', partial_json: `{"a":"${MAIL}"}` }), piece(0, `{"a":"${MAIL}"}`)],
      [stop(4)],
      [stopped],
      [end()],
    )
    expect(message.content).toMatchObject([
      { type: 'thinking', thinking: `Is it ${MARK}` },
      { type: 'server_tool_use', input: { query: `who is ${MARK}` } },
      { type: 'web_search_tool_result', content: [{ title: MARK, encrypted_content: MAIL }] },
      { type: 'text', text: `To ${MARK}`, citations: [{ cited_text: `at ${MARK}` }] },
      { type: 'tool_use', input: { a: MARK } },
    ])
    expect(message.content).toHaveLength(5)
    expect(message.stop_reason).toBe('end_turn')
  })

  test('a block that is cut ends, and so does the message', async () => {
    const { message, guarded } = await relayed(
      [begun],
      [start(0, { type: 'text', text: '' })],
      [text('The sec')],
      [text('ret')],
      [stop(0)],
      [stopped],
      [end()],
    )
    expect(message).toMatchObject({ content: [{ type: 'text', text: 'The ' }], stop_reason: 'refusal' })
    expect(guarded.cancellation.reason).not.toBeNull()
  })

  test('the reason of a refusal', async () => {
    const stop_details = { type: 'refusal', category: null, explanation: `Ask ${MAIL}` }
    const { message } = await relayed(
      [begun],
      [
        refusal(`Ask ${MAIL}`),
        native({ type: 'message_delta', delta: { stop_reason: 'refusal', stop_details } }),
      ],
      [end()],
    )
    expect(JSON.stringify(message)).toContain(`Ask ${MARK}`)
    expect(JSON.stringify(message)).not.toContain(MAIL)
  })

  test('of a reply that is not streamed they stay whole, or not at all', async () => {
    const body = (said: string): InferenceEvent => ({
      type: 'native',
      dialect: 'messages',
      data: { message: { content: [{ type: 'server_tool_use', input: { query: said } }] } },
    })
    const read = async (said: string, inNative: string) => {
      const frames = framesOf([frame(text(said), body(inNative))], [frame(end())])
      const guarded = guard(frames, [EMAIL], { dialect: 'messages', stream: false })
      const { natives } = await collect(guarded.frames, () => undefined)
      return [natives.length, guarded.dropped]
    }
    expect(await read('Hi', 'who')).toEqual([1, []])
    expect(await read(MAIL, 'who')).toEqual([0, ['server_tool_use']])
    expect(await read('Hi', MAIL)).toEqual([0, ['server_tool_use']])
  })

  test('items of Responses: changed ones end without content, and the pieces of tools are left out', async () => {
    const told = (event: JsonObject): InferenceEvent => ({
      type: 'native',
      dialect: 'responses',
      data: { event },
    })
    const item = (said: string) => ({
      type: 'message',
      id: 'i',
      content: [{ type: 'output_text', text: said }],
    })
    const shown = async (said: string) => {
      const guarded = guard(
        framesOf(
          [frame(told({ type: 'response.output_item.added', output_index: 0, item: item('') }))],
          [frame(text(said), told({ type: 'response.output_item.done', output_index: 0, item: item(said) }))],
          [frame(told({ type: 'response.mcp_call_arguments.delta', output_index: 1, delta: 'ann@' }))],
          [frame(told({ type: 'response.mcp_call.failed', output_index: 1, item_id: MAIL, note: MAIL }))],
          [frame(end())],
        ),
        [EMAIL],
        { dialect: 'responses' },
      )
      const { natives } = await collect(guarded.frames, () => undefined)
      expect(guarded.dropped).toEqual(['response.mcp_call_arguments.delta'])
      return natives.map(({ data }) => objectOf(objectOf(data)['event']))
    }
    const [, clean, failed, ...rest] = await shown('Hello.')
    expect(clean?.['item']).toEqual(item('Hello.'))
    expect([failed?.['item_id'], failed?.['note'], rest.length]).toEqual([MAIL, MARK, 0])
    const [, changed] = await shown(`To ${MAIL}`)
    expect(changed?.['item']).toEqual({ type: 'message', id: 'i', content: [] })
  })

  test('texts of a streamed response as a whole that nobody here knows, and not what it repeats of the question', async () => {
    const response = { instructions: MAIL, text: { format: { description: MAIL } }, abstract: `To ${MAIL}` }
    for (const incomplete of [{}, { incomplete_details: { reason: 'max_output_tokens' } }]) {
      const told: InferenceEvent = {
        type: 'native',
        dialect: 'responses',
        data: { response: { ...response, ...incomplete } },
      }
      const guarded = guard(framesOf([frame(text('Hi.'))], [frame(told)], [frame(end())]), [EMAIL], {
        dialect: 'responses',
      })
      const { natives } = await collect(guarded.frames, () => undefined)
      expect(natives.map(({ data }) => objectOf(data)['response'])).toEqual([
        { ...response, ...incomplete, abstract: `To ${MARK}` },
      ])
    }
  })

  test('unknown texts in the deltas of chat', async () => {
    const told = (data: JsonObject): InferenceEvent => ({ type: 'native', dialect: 'chat', data })
    const guarded = guard(
      framesOf(
        [
          frame(
            text('Hi'),
            told({
              chunk: { system_fingerprint: 'fp', citations: [`https://x?${MAIL}`] },
              choices: [{ index: 0, message: { hidden_text: 'ann@', thought_signature: 'abc' } }],
            }),
          ),
        ],
        [frame(end())],
      ),
      [EMAIL],
    )
    const { natives } = await collect(guarded.frames, () => undefined)
    expect(natives.map(({ data }) => data)).toEqual([
      {
        chunk: { system_fingerprint: 'fp', citations: [`https://x?${MARK}`] },
        choices: [{ index: 0, message: { thought_signature: 'abc' } }],
      },
    ])
    expect(guarded.dropped).toEqual(['message.hidden_text'])
  })
})
