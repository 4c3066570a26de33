import type { JsonObject } from '../../../src/core/events.ts'
import type { InferenceRequest } from '../../../src/core/request.ts'
import { parseMessages } from '../../../src/dialects/messages/parse.ts'

export const parse = (more: JsonObject, headers: Record<string, string> = {}): InferenceRequest =>
  parseMessages(
    { model: 'acme/large', messages: [{ role: 'user', content: 'Hi' }], ...more },
    new Headers(headers),
  )

export const user = (...content: JsonObject[]): JsonObject => ({ role: 'user', content })

export const assistant = (...content: JsonObject[]): JsonObject => ({ role: 'assistant', content })

export const CALL = { type: 'tool_use', id: 'toolu_1', name: 'f', input: { x: 1 } }
