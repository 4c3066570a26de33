import { expect } from 'bun:test'
import type { InferenceEvent, InferenceFrame, JsonObject } from '../../../src/core/events.ts'
import { isObject } from '../../../src/core/json.ts'
import { contextOf } from '../replies.ts'

export const REPLY = contextOf()

export const SHARED = {
  id: 'gen-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'acme/large',
  provider: 'Acme',
}
export const frame = (...events: InferenceEvent[]): InferenceFrame => ({ events })
export const text = (value: string, choice = 0): InferenceEvent => ({
  type: 'text-delta',
  choice,
  text: value,
})

/** The events of SSE text; `[DONE]` stays a string. Anything but `data: …` or the id of a failure, and a blank line, fails. */
export function chunksOf(sse: string): (JsonObject | '[DONE]')[] {
  if (sse === '') return []
  expect(sse.endsWith('\n\n')).toBe(true)
  return sse
    .slice(0, -2)
    .split('\n\n')
    .filter((event) => !/^id: failed\.[\w-]+$/.test(event))
    .map((event) => {
      expect(event.startsWith('data: ')).toBe(true)
      expect(event).not.toMatch(/[\n\r\u0085\u2028\u2029]/)
      const data = event.slice(6)
      if (data === '[DONE]') return data
      const chunk: unknown = JSON.parse(data)
      if (!isObject(chunk)) throw new Error(`not a chunk: ${data}`)
      expect(chunk).toMatchObject(SHARED)
      return chunk
    })
}
