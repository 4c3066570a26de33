import { GatewayError, notFound } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { embedIngressOf, neutralEmbedBody } from '../../dialects/gemini/embed-ingress.ts'
import { geminiIngress, geminiListIngress } from '../../dialects/gemini/index.ts'
import { canonicalBody } from '../../dialects/gemini/names.ts'
import { type Incoming, routes } from '../../http/incoming.ts'
import { wildcard } from '../../http/operation.ts'
import { countTokens } from '../conversation/count-tokens.ts'
import { embeddings } from '../operations/embeddings.ts'
import { operate } from '../operations/routes.ts'
import { type InferenceRouteDeps, infer, receive } from '../request/receive.ts'
import {
  batchEmbedContentsOperation,
  countTokensOperation,
  embedContentOperation,
  generateContentOperation,
  streamGenerateContentOperation,
} from './documents.ts'
import { readPath, type Verb } from './path.ts'

/**
 * Google's Gemini API below `/v1beta`, `/v1` and `/api/v1`. The router supports neither slashes in a name nor a verb after
 * a colon, so one wildcard matches all paths; the API document lists each path.
 */
export const geminiRoutes = (deps: InferenceRouteDeps) =>
  routes().post('/models/*', ({ incoming, params }) => serve(incoming, params['*'], deps), {
    parse: 'none',
    detail: wildcard({
      '/models/{model}:generateContent': generateContentOperation,
      '/models/{model}:streamGenerateContent': streamGenerateContentOperation,
      '/models/{model}:countTokens': countTokensOperation,
      '/models/{model}:embedContent': embedContentOperation,
      '/models/{model}:batchEmbedContents': batchEmbedContentsOperation,
    }),
  })

/**
 * Paths without `models/` below Google's prefix: the AI SDK omits it for model names with a slash.
 */
export const bareGeminiRoutes = (deps: InferenceRouteDeps) =>
  routes().post(
    '/*',
    ({ incoming, params }) => {
      const target = readPath(params['*'])
      if (target === null) throw notFound('The path must be models/<model>:generateContent, or another verb')
      return handlers[target.verb](incoming, target.model, deps)
    },
    { parse: 'none', detail: { hide: true } },
  )

function serve(incoming: Incoming, path: string, deps: InferenceRouteDeps): Promise<Response> {
  const target = readPath(path)
  if (target === null) {
    throw new GatewayError(
      405,
      'POST requires a verb after the model; without one, GET and HEAD are allowed',
      {
        headers: { allow: 'GET, HEAD' },
      },
    )
  }
  return handlers[target.verb](incoming, target.model, deps)
}

type Serve = (incoming: Incoming, model: string, deps: InferenceRouteDeps) => Promise<Response>

const handlers: Readonly<Record<Verb, Serve>> = {
  generateContent: (incoming, model, deps) =>
    infer(incoming, 'gemini', deps, { prepare: (sent) => bodyFor(sent, model, false) }),
  streamGenerateContent: (incoming, model, deps) =>
    infer(incoming, 'gemini', deps, {
      prepare: (sent) => bodyFor(sent, model, true),
      ingress: wantsEvents(incoming.request) ? geminiIngress : geminiListIngress,
    }),
  countTokens: async (incoming, model, deps) => {
    const received = await receive(incoming, 'gemini', deps, (sent) => countBody(sent, model))
    return Response.json({ totalTokens: await countTokens(received, deps.run) })
  },
  embedContent: (incoming, model, deps) => embed(incoming, model, deps, false),
  batchEmbedContents: (incoming, model, deps) => embed(incoming, model, deps, true),
}

/** True for a stream of events; else the reply is one JSON list. */
const wantsEvents = ({ url }: Request): boolean => new URL(url).searchParams.get('alt') === 'sse'

/** The model of the path overrides one in the body. */
const bodyFor = (sent: JsonObject, model: string, stream: boolean): JsonObject => ({
  ...canonicalBody(sent),
  model,
  stream,
})

/** The body has either `contents`, or a complete `generateContentRequest`. */
function countBody(sent: JsonObject, model: string): JsonObject {
  const { generateContentRequest: whole, ...plain } = canonicalBody(sent)
  return { ...plain, ...(isObject(whole) ? canonicalBody(whole) : {}), model, stream: false }
}

const embed = (
  incoming: Incoming,
  model: string,
  deps: InferenceRouteDeps,
  isBatch: boolean,
): Promise<Response> =>
  operate(incoming, { ...embeddings, ingress: embedIngressOf(isBatch) }, deps, (sent) =>
    neutralEmbedBody({ ...canonicalBody(sent), model }),
  )
