import type { UpstreamCall } from '../core/attempt.ts'
import { fieldsOf } from '../core/json.ts'
import type { ModelOffer, ProviderRecord } from '../core/snapshot.ts'
import { answerOf, chunksOf, type DemoAnswer, pacedStream } from './demo/answer.ts'
import type { ProviderDefaults } from './environment.ts'
import { compatible, type Provider } from './provider.ts'

/**
 * A built-in model, called through the same pipeline as any provider, so that the first request needs no account. It uses
 * the chat dialect, costs nothing, stores nothing and uses no network: its address does not exist (RFC 2606).
 */
export const demo: Provider = {
  prepare: compatible.prepare,
  async answer(call, signal) {
    signal.throwIfAborted()
    const body = bodyOf(call)
    const answer = answerOf(body)
    if (body['stream'] !== true) return Response.json(replyOf(answer))
    return new Response(pacedStream(chunksOf(answer), signal), {
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    })
  },
}

const SLUG = 'sluice'
const MODEL_ID = 'sluice/demo'

export const demoProvider = (defaults: ProviderDefaults): ProviderRecord => ({
  slug: SLUG,
  name: 'Sluice',
  kind: 'demo',
  dialect: 'chat',
  baseUrl: 'https://demo.sluice.invalid/v1',
  credentials: [{ id: 'built-in', secret: null }],
  timeouts: defaults.timeouts,
  maxInFlight: defaults.maxInFlight,
  quirks: {},
  isLocal: true,
})

/** The model's record: free, with zero data retention and text that is free to use. */
export const demoOffer: ModelOffer = {
  endpoint: {
    id: MODEL_ID,
    providerSlug: SLUG,
    modelId: MODEL_ID,
    upstreamId: 'demo',
    contextLength: 1_048_576,
    maxCompletionTokens: 4096,
    inputModalities: ['text', 'image', 'file', 'audio', 'video'],
    outputModalities: ['text'],
    // Unknown, so that no parameter is rejected.
    supportedParameters: null,
    pricing: { prompt: 0n, completion: 0n, request: 0n },
    quantization: null,
    isZdr: true,
    isDistillable: true,
  },
  name: 'Sluice: Demo',
  created: 1_767_225_600,
  aliases: [],
  mayJoinCatalog: false,
}

function bodyOf(call: UpstreamCall): Record<string, unknown> {
  const body: unknown = JSON.parse(typeof call.body === 'string' ? call.body : '{}')
  return fieldsOf(body)
}

function replyOf(answer: DemoAnswer): Record<string, unknown> {
  const message = {
    role: 'assistant',
    content: answer.toolCall === null ? answer.pieces.join('') : null,
    refusal: null,
    ...(answer.toolCall === null
      ? {}
      : {
          tool_calls: [
            {
              id: answer.toolCall.id,
              type: 'function',
              function: { name: answer.toolCall.name, arguments: answer.pieces.join('') },
            },
          ],
        }),
  }
  return {
    ...answer.head,
    object: 'chat.completion',
    choices: Array.from({ length: answer.choices }, (_, index) => ({
      index,
      message,
      logprobs: answer.logprobs === null ? null : { content: answer.logprobs, refusal: null },
      finish_reason: answer.finishReason,
    })),
    usage: answer.usage,
  }
}
