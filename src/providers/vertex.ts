import { isObject } from '../core/json.ts'
import { googleTokens } from './google-account.ts'
import { compatible, type PreparedBody, type Provider } from './provider.ts'
import { callWithToken } from './token.ts'

/**
 * Google Vertex AI, below `/v1/projects/{project}/locations/{location}`: an account of Google Cloud gets a token, an
 * API key (express mode, below `/v1`) is sent in `x-goog-api-key`.
 *
 * | dialect's path | Vertex's |
 * |---|---|
 * | gemini `/models/{id}:…` | `/publishers/google/models/{id}:…` |
 * | gemini `/cachedContents` | the same, its model by its full path |
 * | messages `/messages` | `/publishers/anthropic/models/{id}:rawPredict` or `:streamRawPredict` |
 * | messages `/messages/count_tokens` | `/publishers/anthropic/models/count-tokens:rawPredict` |
 * | chat `/chat/completions` | `/endpoints/openapi/chat/completions` |
 */
export const vertex: Provider = {
  prepare(provider, credential, call, outbound) {
    const { google } = credential
    const addressed = addressedCall(call, provider.baseUrl)
    if (google === undefined) return compatible.prepare(provider, credential, addressed)
    return callWithToken(provider, credential, addressed, outbound, () => googleTokens(google))
  },
}

function addressedCall(call: PreparedBody, baseUrl: string): PreparedBody {
  if (call.path === '/cachedContents') return contextCall(call, baseUrl)
  if (call.path === '/messages') return claudeCall(call)
  if (call.path === '/messages/count_tokens') return countCall(call)
  if (call.path.startsWith('/models/')) {
    return geminiCall({ ...call, path: `/publishers/google${call.path}` })
  }
  if (/^\/(?:publishers|projects|tunedModels)\//.test(call.path)) return geminiCall(call)
  return { ...call, path: `/endpoints/openapi${call.path}` }
}

/** A cache names its model by its full path, with project and location (Vertex's reference, 2026). */
function contextCall(call: PreparedBody, baseUrl: string): PreparedBody {
  const place = /projects\/[^/]+\/locations\/[^/]+$/.exec(baseUrl)?.[0]
  const model = String(call.body['model'])
  const isNamed = place === undefined || model.startsWith('projects/')
  const published = model.startsWith('publishers/') ? model : `publishers/google/${model}`
  const named = isNamed ? model : `${place}/${published}`
  return { ...call, body: { ...geminiCall(call).body, model: named } }
}

const VERSION = 'vertex-2023-10-16'
const PUBLISHER = /^publishers\/anthropic\/models\//

/** The model is in the path, the version in the body (Anthropic's reference of Claude on Vertex, 2026). */
function claudeCall({ headers, body }: PreparedBody): PreparedBody {
  const { model, ...rest } = body
  const method = rest['stream'] === true ? 'streamRawPredict' : 'rawPredict'
  const { 'anthropic-version': _, ...others } = headers
  return {
    path: `/publishers/anthropic/models/${segment(String(model).replace(PUBLISHER, ''))}:${method}`,
    headers: others,
    body: { anthropic_version: VERSION, ...rest },
  }
}

/** Here the model stays in the body (Anthropic's client for Vertex, 2026). */
function countCall({ headers, body }: PreparedBody): PreparedBody {
  const { 'anthropic-version': _, ...others } = headers
  return {
    path: '/publishers/anthropic/models/count-tokens:rawPredict',
    headers: others,
    body: { anthropic_version: VERSION, ...body },
  }
}

/** Vertex writes versions after an `@`, which may stay unescaped in a path. */
const segment = (name: string): string => encodeURIComponent(name).replaceAll('%40', '@')

/**
 * Differences from AI Studio: Vertex takes the service tier in headers instead of the body, and rejects ids of calls (400
 * `Unknown name "id"`): names and order tell the calls apart.
 */
function geminiCall(call: PreparedBody): PreparedBody {
  const { serviceTier, ...rest } = call.body
  const { contents } = rest
  const body = Array.isArray(contents) ? { ...rest, contents: contents.map(withoutIds) } : rest
  const hasTier = typeof serviceTier === 'string' && serviceTier !== 'standard'
  return { ...call, body, headers: { ...call.headers, ...(hasTier ? tierHeaders(serviceTier) : {}) } }
}

function withoutIds(content: unknown): unknown {
  if (!isObject(content) || !Array.isArray(content['parts'])) return content
  return { ...content, parts: content['parts'].map(withoutId) }
}

function withoutId(part: unknown): unknown {
  const name = ['functionCall', 'functionResponse'].find((each) => isObject(part) && isObject(part[each]))
  if (name === undefined || !isObject(part) || !isObject(part[name])) return part
  const { id: _, ...called } = part[name]
  return { ...part, [name]: called }
}

const tierHeaders = (tier: string): Record<string, string> => ({
  'x-vertex-ai-llm-request-type': 'shared',
  'x-vertex-ai-llm-shared-request-type': tier,
})

/** The dialect that Vertex serves a model in, by its name there. */
export const vertexDialect = (upstreamId: string): 'gemini' | 'messages' | 'chat' => {
  if (/(?:^|\/)claude-/.test(upstreamId)) return 'messages'
  return /-maas$/.test(upstreamId) ? 'chat' : 'gemini'
}
