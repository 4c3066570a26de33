import { Type as t } from '@sinclair/typebox'
import { batchEmbedBody, embedBody } from '../../dialects/gemini/embed-ingress.ts'
import { geminiBody } from '../../dialects/gemini/schema.ts'
import {
  CACHE_HEADERS,
  CACHE_REPLY_HEADERS,
  operation,
  SERVICE_METADATA_HEADER,
} from '../../http/operation.ts'
import { count, usd } from '../document-parts.ts'

const open = { additionalProperties: true }

const KEY = {
  name: 'x-goog-api-key',
  description: 'The key, if no Authorization header is sent; also accepted as `?key=`.',
  schema: { type: 'string' as const },
}

const error = t.Object(
  {
    error: t.Object(
      {
        code: t.Integer({ description: 'The HTTP status.' }),
        message: t.String({ description: 'What was wrong, where, and what is allowed.' }),
        status: t.String({ description: 'INVALID_ARGUMENT, UNAUTHENTICATED, RESOURCE_EXHAUSTED …' }),
        details: t.Optional(
          t.Array(t.Object({ '@type': t.String() }, open), {
            description: "`ErrorInfo` with the gateway's metadata; `RetryInfo` with the time to wait.",
          }),
        ),
      },
      open,
    ),
  },
  open,
)

const candidate = t.Object(
  {
    index: t.Optional(count),
    content: t.Optional(
      t.Object({ role: t.Optional(t.String()), parts: t.Optional(t.Array(t.Object({}, open))) }, open),
    ),
    finishReason: t.Optional(
      t.String({ description: 'STOP, MAX_TOKENS, SAFETY … Function calls finish with STOP.' }),
    ),
  },
  open,
)

const reply = t.Object(
  {
    candidates: t.Optional(t.Array(candidate, { description: 'Absent if the prompt was blocked.' })),
    promptFeedback: t.Optional(t.Object({}, open)),
    usageMetadata: t.Object(
      {
        promptTokenCount: t.Integer({ description: 'Cached tokens included.' }),
        candidatesTokenCount: t.Integer({ description: 'Without thoughts.' }),
        totalTokenCount: count,
        cachedContentTokenCount: t.Optional(count),
        thoughtsTokenCount: t.Optional(count),
        cost: usd,
        is_byok: t.Boolean(),
      },
      open,
    ),
    modelVersion: t.String(),
    responseId: t.String({ description: 'The generation id; GET /generation takes it too.' }),
    service_metadata: t.Optional(
      t.Object({}, { ...open, description: 'How it was routed, when asked for.' }),
    ),
  },
  open,
)

const tag = 'Inference'
const headers = [SERVICE_METADATA_HEADER, ...CACHE_HEADERS, KEY]

export const generateContentOperation = operation({
  id: 'generateContent',
  tag,
  summary: "Generate content (Google's Gemini API)",
  description:
    "For Google's clients and coding agents that use its API; every model is available. The same route is served " +
    'below /v1beta. Field names are accepted in camelCase and snake_case. Fields that are not listed are forwarded ' +
    'to providers of this API.',
  asksProvider: true,
  body: geminiBody,
  reply,
  replyHeaders: CACHE_REPLY_HEADERS,
  headers,
  error,
})

export const streamGenerateContentOperation = operation({
  id: 'streamGenerateContent',
  tag,
  summary: "Generate content as a stream (Google's Gemini API)",
  description:
    'With `?alt=sse` the reply is a stream of events, otherwise one JSON list of the same chunks. The last chunk has the ' +
    'finishReason and the usage; a truncated stream ends with an `error` instead.',
  asksProvider: true,
  body: geminiBody,
  reply: t.Array(reply),
  streams: true,
  replyHeaders: CACHE_REPLY_HEADERS,
  headers,
  error,
})

export const countTokensOperation = operation({
  id: 'countContentTokens',
  tag,
  summary: "Count the tokens of contents (Google's Gemini API)",
  description:
    'The provider counts if it has a route for it; otherwise the gateway returns an estimate, which is rather too high. ' +
    'Costs nothing. Rate limits count it as a request without tokens.',
  body: geminiBody,
  reply: t.Object({ totalTokens: count }),
  headers: [KEY],
  error,
})

const vector = t.Object({ values: t.Array(t.Number()) })
const embedded = {
  usageMetadata: t.Object({ promptTokenCount: count, cost: usd, is_byok: t.Boolean() }, open),
  modelVersion: t.String(),
  responseId: t.String(),
}

export const embedContentOperation = operation({
  id: 'embedContent',
  tag,
  summary: "Embed one content (Google's Gemini API)",
  asksProvider: true,
  body: embedBody,
  reply: t.Object({ embedding: vector, ...embedded }, open),
  replyHeaders: CACHE_REPLY_HEADERS,
  headers,
  error,
})

export const batchEmbedContentsOperation = operation({
  id: 'batchEmbedContents',
  tag,
  summary: "Embed several contents (Google's Gemini API)",
  description: 'All requests of a batch must have the same fields, except their text.',
  asksProvider: true,
  body: batchEmbedBody,
  reply: t.Object({ embeddings: t.Array(vector), ...embedded }, open),
  replyHeaders: CACHE_REPLY_HEADERS,
  headers,
  error,
})
