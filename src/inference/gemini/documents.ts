import { Type as t } from '@sinclair/typebox'
import { batchEmbedBody, embedBody } from '../../dialects/gemini/embed-ingress.ts'
import { geminiBody } from '../../dialects/gemini/schema.ts'
import { cachedInference, count, documented, usd } from '../document-parts.ts'

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

export const generateContentOperation = cachedInference(
  'generateContent',
  "Generate content (Google's Gemini API)",
  {
    description:
      "For Google's clients and coding agents that use its API; every model is available. The same route is served " +
      'below /v1beta. Field names are accepted in camelCase and snake_case. Fields that are not listed are forwarded ' +
      'to providers of this API.',
    body: geminiBody,
    reply,
    headers: [KEY],
    error,
  },
)

export const streamGenerateContentOperation = cachedInference(
  'streamGenerateContent',
  "Generate content as a stream (Google's Gemini API)",
  {
    description:
      'With `?alt=sse` the reply is a stream of events, otherwise one JSON list of the same chunks. The last chunk has the ' +
      'finishReason and the usage; a truncated stream ends with an `error` instead.',
    body: geminiBody,
    reply: t.Array(reply),
    streams: true,
    headers: [KEY],
    error,
  },
)

export const countTokensOperation = documented(
  'countContentTokens',
  "Count the tokens of contents (Google's Gemini API)",
  {
    description:
      'The provider counts if it has a route for it; otherwise the gateway returns an estimate, which is rather too high. ' +
      'Costs nothing. Rate limits count it as a request without tokens.',
    body: geminiBody,
    reply: t.Object({ totalTokens: count }),
    headers: [KEY],
    error,
  },
)

const vector = t.Object({ values: t.Array(t.Number()) })
const embedded = {
  usageMetadata: t.Object({ promptTokenCount: count, cost: usd, is_byok: t.Boolean() }, open),
  modelVersion: t.String(),
  responseId: t.String(),
}

export const embedContentOperation = cachedInference(
  'embedContent',
  "Embed one content (Google's Gemini API)",
  {
    body: embedBody,
    reply: t.Object({ embedding: vector, ...embedded }, open),
    headers: [KEY],
    error,
  },
)

export const batchEmbedContentsOperation = cachedInference(
  'batchEmbedContents',
  "Embed several contents (Google's Gemini API)",
  {
    description: 'All requests of a batch must have the same fields, except their text.',
    body: batchEmbedBody,
    reply: t.Object({ embeddings: t.Array(vector), ...embedded }, open),
    headers: [KEY],
    error,
  },
)
