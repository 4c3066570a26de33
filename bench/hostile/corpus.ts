import { chatRequests } from './chat-requests.ts'
import { messagesRequests } from './messages-requests.ts'
import { otherRequests } from './other-requests.ts'
import { replyRequests } from './reply-requests.ts'
import { responsesRequests } from './responses-requests.ts'
import type { Shape } from './shape.ts'

/** Every hostile request, from callers and, by way of a hostile provider, from the other side. */
export const corpus: readonly Shape[] = [
  ...chatRequests,
  ...responsesRequests,
  ...messagesRequests,
  ...otherRequests,
  ...replyRequests,
]
