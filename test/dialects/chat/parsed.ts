import type { JsonObject } from '../../../src/core/events.ts'
import { parseChat } from '../../../src/dialects/chat/parse.ts'

export const HELLO = [{ role: 'user', content: 'hello' }]

export const parse = (fields: JsonObject = {}, headers: Record<string, string> = {}) =>
  parseChat({ messages: HELLO, ...fields }, new Headers(headers))
