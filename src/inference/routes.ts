import { Elysia } from 'elysia'
import type { JsonObject } from '../core/events.ts'
import { type CompletionAsked, chatBodyOf } from '../dialects/chat/completion-body.ts'
import { completionIngress } from '../dialects/chat/completion-view.ts'
import { requestIdOf } from '../http/request-id.ts'
import { chatOperation } from './chat-operation.ts'
import { completionOperation } from './completion-operation.ts'
import { countTokens } from './count-tokens.ts'
import { countTokensOperation, messagesOperation } from './messages-operation.ts'
import { type InferenceRouteDeps, infer, receive } from './receive.ts'

export type { InferenceRouteDeps }

/** The inference routes. Each reads its body itself, after the caller is known. */
export const inferenceRoutes = (deps: InferenceRouteDeps) =>
  new Elysia()
    .post('/chat/completions', ({ request }) => infer(request, 'chat', deps), {
      parse: 'none',
      detail: chatOperation,
    })
    .post('/completions', ({ request }) => complete(request, deps), {
      parse: 'none',
      detail: completionOperation,
    })
    .post('/messages', ({ request }) => withRequestId(request, infer(request, 'messages', deps)), {
      parse: 'none',
      detail: messagesOperation,
    })
    .post('/messages/count_tokens', ({ request }) => withRequestId(request, count(request, deps)), {
      parse: 'none',
      detail: countTokensOperation,
    })

/** OpenAI's older API: a chat completion in other words. */
function complete(request: Request, deps: InferenceRouteDeps): Promise<Response> {
  let asked: CompletionAsked = { prompt: '', echo: false }
  const prepare = (sent: JsonObject): JsonObject => {
    const read = chatBodyOf(sent)
    asked = read.asked
    return read.body
  }
  return infer(request, 'chat', deps, { prepare, ingress: completionIngress(() => asked) })
}

async function count(request: Request, deps: InferenceRouteDeps): Promise<Response> {
  const received = await receive(request, 'messages', deps)
  return Response.json({ input_tokens: await countTokens(received, deps.run) })
}

/** Anthropic's clients read the id of a request from a header of its own name. */
async function withRequestId(request: Request, answering: Promise<Response>): Promise<Response> {
  const response = await answering
  response.headers.set('request-id', requestIdOf(request))
  return response
}
