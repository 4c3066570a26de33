import type { ProviderQuirks } from '../core/snapshot.ts'
import { words } from '../core/words.ts'

/** Fields of OpenAI's API that none of these vendors supports. */
const OPENAI_ONLY = words(`
  top_a min_p repetition_penalty logit_bias logprobs top_logprobs modalities audio verbosity
  service_tier user safety_identifier store image_config cache_control prompt_cache_options
  prompt_cache_retention
`)

/** Message fields that clients replay from replies, or send for other vendors. */
const MESSAGE_FIELDS = words(`
  name refusal annotations audio images model function_call cache_control configuration_update
  extra_content
`)

/** Fields with replayed reasoning of other providers' models. Replies of these vendors have none of them. */
const FOREIGN_THOUGHTS = ['reasoning_content', 'reasoning_details', 'extra_content']

/**
 * ChatGPT's models return no reasoning to replay; the search models and the first o1 models are available only on chat
 * completions (OpenAI's model pages, 2026).
 */
const CHAT_MODELS = /-chat(?:-|$)|-search-(?:api|preview)|^o1-(?:mini|preview)/

/** OpenAI's guide to speech to text and its errors (`oga`), read 2026-11-23; Azure's and Groq's lists are within it. */
const AUDIO_FORMATS = words('flac m4a mp3 mp4 mpeg mpga oga ogg wav webm')
export const OPENAI_RECORDINGS = { mostBytes: 25_000_000, formats: AUDIO_FORMATS }
/** console.groq.com/docs/speech-to-text, 2026-11-23: 25 MB for a free account, 100 MB for a paid one. */
export const GROQ_RECORDINGS = { mostBytes: 100_000_000, formats: AUDIO_FORMATS }

/** Azure serves models of other labs too; their reasoning is in chat completions, as their labs write it (2026). */
export const AZURE_CHAT_MODELS = /^(?!gpt-|o\d|codex)|-chat(?:-|$)|^o1-(?:mini|preview)/

/**
 * OpenAI's chat completions neither return nor accept reasoning; its Responses API does. Metadata without `store` is a
 * 400 (`The 'metadata' parameter is only allowed when 'store' is enabled`; public issues of 2025 and 2026). Without
 * `service_tier`, the project's setting selects the tier; `default` is "standard pricing" (API reference, 2026).
 */
export const OPENAI: ProviderQuirks = {
  accountTier: 'any',
  chatModels: CHAT_MODELS,
  // Reasoning models reject `max_tokens`; all models accept the newer name.
  outputBoundField: 'max_completion_tokens',
  responsesExtensions: false,
  recordings: OPENAI_RECORDINGS,
  chat: { refusedMessageFields: ['reasoning', ...FOREIGN_THOUGHTS], storedMetadata: true },
}

/**
 * Groq and Cerebras return 400 `property 'reasoning_content' is unsupported` (public issues of 2026), and accept replayed
 * reasoning as `reasoning`, the name in their replies. Both support both names of the output bound.
 */
export const STRICT_THOUGHTS: ProviderQuirks = {
  developerRole: false,
  chat: { refusedMessageFields: FOREIGN_THOUGHTS },
}

/**
 * DeepSeek and Moonshot reject a conversation in which a turn with reasoning and tool calls is replayed without its
 * `reasoning_content` (400 `Missing reasoning_content field in the assistant message`, `reasoning_content is missing in
 * assistant tool call message`; their guides to thinking with tools and public issues of 2025 and 2026). Xiaomi,
 * Z.AI and other hosts of the same models take it back under the same name (models.dev, 2026: `interleaved.field`).
 */
export const REPLAYED_THOUGHTS: ProviderQuirks = {
  developerRole: false,
  outputBoundField: 'max_tokens',
  chat: { thoughtsField: 'reasoning_content' },
}

/**
 * Mistral's chat completions (API reference and public issues of 2024 to 2026): a field that it does not know is 422
 * `extra_forbidden`, in the body, in messages and in parts; `stream_options` is one, and usage is in the finish chunk.
 * Ids of calls are nine letters or digits (400, code 3280). A last message of the assistant needs `prefix`, and a user
 * may not speak right after a tool (400 `Unexpected role 'user' after role 'tool'`).
 */
export const MISTRAL: ProviderQuirks = {
  developerRole: false,
  outputBoundField: 'max_tokens',
  streamOptions: false,
  chat: {
    fieldNames: { seed: 'random_seed' },
    refusedFields: [...OPENAI_ONLY, 'top_k', 'web_search_options'],
    refusedMessageFields: MESSAGE_FIELDS,
    requiredToolChoice: 'any',
    toolCallIds: 'nine-alphanumerics',
    thinkingParts: true,
    flatParts: true,
    toolParameters: true,
    ranges: { temperature: [0, 1.5] },
    efforts: ['none', 'high'],
    promptMode: true,
    assistantPrefix: true,
    wordAfterTools: true,
  },
}

/**
 * Perplexity's Sonar (API reference and public issues of 2024 to 2026): no tools; "After the (optional) system
 * message(s), user and assistant roles should be alternating" (400); formats but `json_object`; OpenAI fields beyond its
 * reference are ignored silently. Its own fields (`search_mode`, `web_search_options`, `return_images` …)
 * are sent unchanged.
 */
export const PERPLEXITY: ProviderQuirks = {
  developerRole: false,
  outputBoundField: 'max_tokens',
  chat: {
    refusedFields: [...OPENAI_ONLY, 'seed', 'stop', 'n', 'prediction', 'metadata', 'prompt_cache_key'],
    refusedMessageFields: [...MESSAGE_FIELDS, 'reasoning', 'reasoning_content', 'reasoning_details'],
    responseFormats: ['json_schema', 'regex'],
    tools: false,
    efforts: ['minimal', 'low', 'medium', 'high'],
    alternatingRoles: true,
  },
}

/**
 * Providers that bill Claude's prompt cache by Anthropic's published rule (2026), in multiples of the input price: 0.1 to
 * read, 1.25 to write for five minutes, 2 for an hour.
 */
export const ANTHROPIC_CACHE_PRICES: readonly string[] = ['anthropic', 'amazon-bedrock', 'google-vertex']

/** Providers with context caches at Google's prices; resellers have none, or other prices. */
export const CONTEXT_CACHES: readonly string[] = ['google', 'google-vertex']

/** Parameters of the API that no model of a vendor accepts, whatever other sources report of the model. */
export const lackedParameters: Readonly<Record<string, readonly string[]>> = {
  mistral: MISTRAL.chat?.refusedFields ?? [],
  perplexity: PERPLEXITY.chat?.refusedFields ?? [],
  cohere: words(`
  min_p top_a repetition_penalty logit_bias top_logprobs parallel_tool_calls prediction verbosity
  web_search_options
`),
}

/** Quirks by host, for vendors without a row (no facts of their models exist), and for other routes than chat. */
const BY_HOST: Readonly<Record<string, ProviderQuirks>> = {
  // Voyage's API reference, 2026: an unknown field is a 400.
  'api.voyageai.com': {
    embeddings: {
      dimensionsField: 'output_dimension',
      floatFormat: false,
      inputTypes: { query: 'query', document: 'document' },
    },
    rankingBoundField: 'top_k',
  },
  // NVIDIA's API reference, 2026: models of questions and passages refuse a request without it.
  'integrate.api.nvidia.com': { embeddings: { inputTypes: { query: 'query', document: 'passage' } } },
  'openrouter.ai': { embeddings: { inputTypes: { query: 'search_query', document: 'search_document' } } },
  'api.openai.com': { accountTier: 'any' },
  'eu.api.openai.com': { accountTier: 'any' },
  'us.api.openai.com': { accountTier: 'any' },
  'api.mistral.ai': { embeddings: { dimensionsField: 'output_dimension' } },
}

/** The quirks of the vendor at an entry's address. */
export function quirksOfAddress(baseUrl: string): ProviderQuirks {
  const host = URL.parse(baseUrl)?.hostname ?? ''
  return Object.hasOwn(BY_HOST, host) ? (BY_HOST[host] ?? {}) : {}
}
