import type { JsonObject } from '../core/events.ts'
import { type CompletionAsked, chatBodyOf, completionIngress } from '../dialects/chat/completions.ts'
import { type Incoming, readsBody, routes } from '../http/incoming.ts'
import { JSON_TYPE, replyHeaders, traceresponseOf } from '../http/reply-headers.ts'
import { chatOperation } from './conversation/chat.ts'
import { completionOperation } from './conversation/completion.ts'
import { countTokens } from './conversation/count-tokens.ts'
import { countTokensOperation, messagesOperation } from './conversation/messages.ts'
import { type InferenceRouteDeps, infer, receive } from './request/receive.ts'

export type { InferenceRouteDeps }

/** The inference routes. Each reads its body after authenticating the caller. */
export const inferenceRoutes = (deps: InferenceRouteDeps) =>
  routes()
    .post('/chat/completions', ({ incoming }) => infer(incoming, 'chat', deps), readsBody(chatOperation))
    .post('/completions', ({ incoming }) => complete(incoming, deps), readsBody(completionOperation))
    .post('/messages', ({ incoming }) => infer(incoming, 'messages', deps), readsBody(messagesOperation))
    .post('/messages/count_tokens', ({ incoming }) => count(incoming, deps), readsBody(countTokensOperation))

/** OpenAI's legacy completions API, served as a chat completion. */
function complete(incoming: Incoming, deps: InferenceRouteDeps): Promise<Response> {
  let asked: CompletionAsked = { prompt: '', echo: false }
  const prepare = (sent: JsonObject): JsonObject => {
    const read = chatBodyOf(sent)
    asked = read.asked
    return read.body
  }
  return infer(incoming, 'chat', deps, { prepare, ingress: completionIngress(() => asked) })
}

async function count(incoming: Incoming, deps: InferenceRouteDeps): Promise<Response> {
  const received = await receive(incoming, 'messages', deps)
  const tokens = await countTokens(received, deps.run)
  const headers = replyHeaders(incoming, JSON_TYPE)
  headers['request-id'] = incoming.id
  headers['traceresponse'] = traceresponseOf(incoming)
  return Response.json({ input_tokens: tokens }, { headers })
}
