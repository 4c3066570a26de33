import type { InferenceEvent, InferenceFrame, JsonObject } from '../../../src/core/events.ts'

export const frame = (...events: InferenceEvent[]): InferenceFrame => ({ events })

export const text = (value: string): InferenceEvent => ({ type: 'text-delta', choice: 0, text: value })

export const thought = (value: string): InferenceEvent => ({
  type: 'reasoning-delta',
  choice: 0,
  text: value,
})

export const detail = (fields: JsonObject & { type: string }): InferenceEvent => ({
  type: 'reasoning-detail',
  choice: 0,
  detail: fields,
})

export const call = (index: number, name: string, more: JsonObject = {}): InferenceEvent => ({
  type: 'tool-call-start',
  choice: 0,
  index,
  id: `call_${index}`,
  name,
  ...more,
})

export const piece = (index: number, json: string): InferenceEvent => ({
  type: 'tool-call-delta',
  choice: 0,
  index,
  json,
})

export const citation = (startIndex: number, endIndex: number): InferenceEvent => ({
  type: 'annotation',
  choice: 0,
  annotation: { type: 'url_citation', url: 'https://a.example', title: 'A', startIndex, endIndex },
})

export const native = (data: JsonObject): InferenceEvent => ({ type: 'native', dialect: 'responses', data })

export const added = (output_index: number, item: JsonObject): InferenceEvent =>
  native({ event: { type: 'response.output_item.added', sequence_number: 40, output_index, item } })

export const done = (output_index: number, item: JsonObject): InferenceEvent =>
  native({ event: { type: 'response.output_item.done', sequence_number: 99, output_index, item } })
