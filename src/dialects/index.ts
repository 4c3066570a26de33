import type { DialectName } from '../core/events.ts'
import { chatEgress } from './chat/egress.ts'
import { chatIngress } from './chat/ingress.ts'
import { cohereEgress } from './cohere/egress.ts'
import { converseEgress } from './converse/egress.ts'
import type { Egress, Ingress } from './dialect.ts'
import { geminiEgress } from './gemini/egress.ts'
import { geminiIngress } from './gemini/ingress.ts'
import { messagesEgress } from './messages/egress.ts'
import { messagesIngress } from './messages/ingress.ts'
import { responsesEgress } from './responses/egress.ts'
import { responsesIngress } from './responses/ingress.ts'

/** What callers may speak. A new dialect is a folder here and a line. */
export const ingresses = {
  chat: chatIngress,
  responses: responsesIngress,
  messages: messagesIngress,
  gemini: geminiIngress,
} satisfies Partial<Record<DialectName, Ingress>>

/** What providers may speak. */
export const egresses = {
  chat: chatEgress,
  responses: responsesEgress,
  messages: messagesEgress,
  gemini: geminiEgress,
  cohere: cohereEgress,
  converse: converseEgress,
} satisfies Partial<Record<DialectName, Egress>>
