import type { DialectName } from '../core/events.ts'
import { chatEgress, chatIngress } from './chat/index.ts'
import { cohereEgress } from './cohere/index.ts'
import { converseEgress } from './converse/index.ts'
import type { Egress, Ingress } from './dialect.ts'
import { geminiEgress, geminiIngress } from './gemini/index.ts'
import { messagesEgress, messagesIngress } from './messages/index.ts'
import { responsesEgress, responsesIngress } from './responses/index.ts'

/** Dialects that callers may use. A new one is a folder here and a line. */
export const ingresses = {
  chat: chatIngress,
  responses: responsesIngress,
  messages: messagesIngress,
  gemini: geminiIngress,
} satisfies Partial<Record<DialectName, Ingress>>

/** The dialects of providers. */
export const egresses = {
  chat: chatEgress,
  responses: responsesEgress,
  messages: messagesEgress,
  gemini: geminiEgress,
  cohere: cohereEgress,
  converse: converseEgress,
} satisfies Partial<Record<DialectName, Egress>>
