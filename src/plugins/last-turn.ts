import type { ContentPart, InferenceRequest, Message } from '../core/request.ts'

/** The place of the user's last turn; -1 without one. */
const lastTurn = ({ messages }: InferenceRequest): number =>
  messages.findLastIndex(({ role }) => role === 'user')

const partsOf = ({ content }: Message): readonly ContentPart[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])

/** The text of the user's last turn, without images and files. */
export function textOfLastTurn(request: InferenceRequest): string {
  const message = request.messages[lastTurn(request)]
  if (message === undefined) return ''
  return partsOf(message)
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n')
    .trim()
}

/** The request with a text before the user's last turn: in the same message, since some providers want turns to alternate. */
export function withMaterial(request: InferenceRequest, text: string): InferenceRequest {
  const at = lastTurn(request)
  const messages = request.messages.map((message, i): Message => {
    if (i !== at) return message
    return { ...message, content: [{ type: 'text', text }, ...partsOf(message)] }
  })
  return { ...request, messages, rewritten: true }
}
