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
  description: 'The key, where no Authorization header is sent; `?key=` is taken too.',
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
            description: '`ErrorInfo` with what the gateway knows; `RetryInfo` with how long to wait.',
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
    finishReason: t.Optional(t.String({ description: 'STOP, MAX_TOKENS, SAFETY … Calls end in STOP.' })),
  },
  open,
)

const reply = t.Object(
  {
    candidates: t.Optional(t.Array(candidate, { description: 'None where the prompt was blocked.' })),
    promptFeedback: t.Optional(t.Object({}, open)),
    usageMetadata: t.Object(
      {
        promptTokenCount: t.Integer({ description: 'What was read from a cache included.' }),
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
    responseId: t.String({ description: 'The generation id; GET /generation takes it.' }),
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
    "For Google's own clients and coding agents that speak its API; any model can be named. The same route is served " +
    'below /v1beta. Names of fields are taken in camelCase and in snake_case. Fields that are not listed are forwarded ' +
    'to providers that speak this API.',
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
    'finishReason and the usage; an answer that breaks off ends in an `error` instead.',
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
    'The provider counts if it has a route for it; otherwise the answer is an estimate of the gateway, which is rather ' +
    'too high. Costs nothing, and counts as a request without tokens where rates are limited.',
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
  description: 'What is asked beside the text must be the same in all requests of a batch.',
  asksProvider: true,
  body: batchEmbedBody,
  reply: t.Object({ embeddings: t.Array(vector), ...embedded }, open),
  replyHeaders: CACHE_REPLY_HEADERS,
  headers,
  error,
})
