import { publicError } from './envelope.ts'
import type { Incoming } from './incoming.ts'
import { textReply } from './text-reply.ts'

const PLAIN = { 'content-type': 'text/plain; charset=utf-8' }

/** A reply in plain text. */
export const plainReply = (text: string, status: number, headers: Record<string, string> = PLAIN): Response =>
  textReply(text, headers, status)

/** An error in plain text, for programs that show it as it is. */
export function plainError(thrown: unknown, incoming: Incoming): Response {
  const { status, message, headers, refusal, param } = publicError(thrown)
  incoming.refusal = refusal ?? null
  incoming.param = param ?? null
  return plainReply(`${message}\n`, status, { ...PLAIN, ...headers })
}
