import { describe, expect, test } from 'bun:test'
import type { FrameBatch, InferenceEvent, JsonObject } from '../../../../src/core/events.ts'
import { objectOf } from '../../../../src/http/json.ts'
import { collect } from '../../../../src/inference/reply/collect.ts'
import { readStream, writtenStream } from '../../../dialects/messages/written.ts'
import { call, detail, frame, piece, text, thought } from '../../../dialects/responses/frames.ts'
import { BLOCK, EMAIL, each, end, MAIL, MARK, only, refusal } from './changing.ts'
import { framesOf, guard, guardrailOf } from './guarding.ts'

describe('what stands beside a text', () => {
  test('the signature of a changed thought is dropped', async () => {
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
    expect(reasoningDetails.map(({ text: output, signature }) => [output, signature])).toEqual([
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
    const { annotations, text: output } = await only(guard(framesOf(...each(events)), [EMAIL]))
    expect(output).toBe(`To ${MARK}: yes. `)
    expect(annotations).toMatchObject([
      { startIndex: 0, endIndex: 2, title: 'First' },
      { startIndex: output.indexOf('yes'), endIndex: output.indexOf('yes') + 3, title: MARK },
    ])
  })

  test('logprobs are dropped and named', async () => {
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

test('text of which nothing is withheld passes unchanged, on the fast path too', async () => {
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

test('filters on requests alone, and no filters, return the same frames', () => {
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

  test('of a reply that is not streamed they stay complete, or are dropped', async () => {
    const body = (output: string): InferenceEvent => ({
      type: 'native',
      dialect: 'messages',
      data: { message: { content: [{ type: 'server_tool_use', input: { query: output } }] } },
    })
    const read = async (output: string, inNative: string) => {
      const frames = framesOf([frame(text(output), body(inNative))], [frame(end())])
      const guarded = guard(frames, [EMAIL], { dialect: 'messages', stream: false })
      const { natives } = await collect(guarded.frames, () => undefined)
      return [natives.length, guarded.dropped]
    }
    expect(await read('Hi', 'who')).toEqual([1, []])
    expect(await read(MAIL, 'who')).toEqual([0, ['server_tool_use']])
    expect(await read('Hi', MAIL)).toEqual([0, ['server_tool_use']])
  })

  test('items of Responses: changed ones end without content, and the pieces of tools are left out', async () => {
    const nativeEvent = (event: JsonObject): InferenceEvent => ({
      type: 'native',
      dialect: 'responses',
      data: { event },
    })
    const item = (output: string) => ({
      type: 'message',
      id: 'i',
      content: [{ type: 'output_text', text: output }],
    })
    const shown = async (output: string) => {
      const guarded = guard(
        framesOf(
          [frame(nativeEvent({ type: 'response.output_item.added', output_index: 0, item: item('') }))],
          [
            frame(
              text(output),
              nativeEvent({ type: 'response.output_item.done', output_index: 0, item: item(output) }),
            ),
          ],
          [frame(nativeEvent({ type: 'response.mcp_call_arguments.delta', output_index: 1, delta: 'ann@' }))],
          [
            frame(
              nativeEvent({ type: 'response.mcp_call.failed', output_index: 1, item_id: MAIL, note: MAIL }),
            ),
          ],
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

  test('unknown fields of a streamed response object are filtered, not those that repeat the request', async () => {
    const response = { instructions: MAIL, text: { format: { description: MAIL } }, abstract: `To ${MAIL}` }
    for (const incomplete of [{}, { incomplete_details: { reason: 'max_output_tokens' } }]) {
      const nativeEvent: InferenceEvent = {
        type: 'native',
        dialect: 'responses',
        data: { response: { ...response, ...incomplete } },
      }
      const guarded = guard(framesOf([frame(text('Hi.'))], [frame(nativeEvent)], [frame(end())]), [EMAIL], {
        dialect: 'responses',
      })
      const { natives } = await collect(guarded.frames, () => undefined)
      expect(natives.map(({ data }) => objectOf(data)['response'])).toEqual([
        { ...response, ...incomplete, abstract: `To ${MARK}` },
      ])
    }
  })

  test('unknown texts in the deltas of chat', async () => {
    const nativeEvent = (data: JsonObject): InferenceEvent => ({ type: 'native', dialect: 'chat', data })
    const guarded = guard(
      framesOf(
        [
          frame(
            text('Hi'),
            nativeEvent({
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
