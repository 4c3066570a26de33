import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { InferenceEvent, InferenceFrame, JsonObject } from '../../../src/core/events.ts'
import { writeResponsesStream } from '../../../src/dialects/responses/write-stream.ts'
import { call, detail, native, piece, text, thought } from './frames.ts'
import { checkStream } from './stream-order.ts'
import { CLOSING, reply } from './written.ts'

/** Any events in any order: `checkStream` finds the stream valid, and no content is lost. */

type Draft = (state: { calls: number; place: number }) => InferenceEvent[]

const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 })
const drafts: fc.Arbitrary<Draft> = fc.oneof(
  word.map(
    (each): Draft =>
      () => [text(each)],
  ),
  fc.tuple(word, fc.nat(2), fc.constantFrom('summary', 'text', null)).map(
    ([each, index, kind]): Draft =>
      () => [
        thought(each),
        ...(kind ? [detail({ type: `reasoning.${kind}`, [kind]: each, index, format: 'x-v1' })] : []),
      ],
  ),
  word.map(
    (data): Draft =>
      () => [detail({ type: 'reasoning.encrypted', data, format: 'x-v1', index: 9 })],
  ),
  word.map(
    (each): Draft =>
      () => [{ type: 'refusal-delta', choice: 0, text: each }],
  ),
  fc.constantFrom('f', 'patch').map(
    (name): Draft =>
      (state) => [call(state.calls++, name)],
  ),
  fc.tuple(fc.nat(9), fc.constantFrom('{', '"a"', ':1', '}', '{}', '{"input":"x"}')).map(
    ([at, json]): Draft =>
      (state) =>
        state.calls === 0 ? [] : [piece(at % state.calls, json)],
  ),
  fc.constant<Draft>(() => [{ type: 'image', choice: 0, url: 'data:image/png;base64,aGk=' }]),
  fc.constant<Draft>(() => [
    {
      type: 'annotation',
      choice: 0,
      annotation: { type: 'url_citation', url: 'https://a.example', title: 'A', startIndex: 0, endIndex: 1 },
    },
  ]),
  fc.tuple(fc.constantFrom('web_search_call', 'brand_new_item'), fc.boolean()).map(
    ([type, isAnnounced]): Draft =>
      (state) => {
        const output_index = state.place++
        const item = { type, id: `up_${output_index}` }
        const textOf = (step: string): InferenceEvent =>
          native({ event: { type: `response.output_item.${step}`, output_index, item } })
        return isAnnounced ? [textOf('added'), textOf('done')] : [textOf('done')]
      },
  ),
)
const streams = fc.array(fc.array(drafts, { minLength: 1, maxLength: 3 }), { maxLength: 14 }).map((list) => {
  const state = { calls: 0, place: 0 }
  return list.map((each): InferenceFrame => ({ events: each.flatMap((draft) => draft(state)) }))
})

const textOf = (
  frames: readonly InferenceFrame[],
  type: 'text-delta' | 'reasoning-delta' | 'refusal-delta',
): string =>
  frames
    .flatMap(({ events }) => events)
    .map((event) => (event.type === type ? event.text : ''))
    .join('')
const count = (frames: readonly InferenceFrame[], type: InferenceEvent['type']): number =>
  frames.flatMap(({ events }) => events).filter((event) => event.type === type).length

test('every order is valid, with an end or a failure', () => {
  fc.assert(
    fc.property(streams, fc.boolean(), (frames, isWhole) => {
      const writer = writeResponsesStream(reply({ tools: [{ type: 'custom', name: 'patch' }] }))
      const begun = frames.map((each) => writer.write(each)).join('')
      const rest = isWhole ? writer.end(CLOSING) : writer.fail({ status: 502, message: 'It broke.' })
      const { response, events } = checkStream(begun + rest)
      expect(writer.reply?.()).toEqual(response)
      const output: JsonObject[] = Array.isArray(response['output']) ? response['output'] : []
      const of = (type: string) => output.filter((item) => item['type'] === type)
      const parts = (list: JsonObject[], field: string) =>
        list.flatMap((item) => (Array.isArray(item[field]) ? item[field] : []))
      expect(response['output_text']).toBe(textOf(frames, 'text-delta'))
      expect(
        parts(of('message'), 'content')
          .map((part) => part.refusal ?? '')
          .join(''),
      ).toBe(textOf(frames, 'refusal-delta'))
      const deltas = events.filter(({ type }) => type === 'response.reasoning.delta')
      expect(deltas.map(({ delta }) => delta).join('')).toBe(textOf(frames, 'reasoning-delta'))
      expect(of('function_call').length + of('custom_tool_call').length).toBe(
        count(frames, 'tool-call-start'),
      )
      expect(of('image_generation_call').length).toBe(count(frames, 'image'))
    }),
    { numRuns: 1_500 },
  )
})
