import type { ErrorType, Reach, UpstreamFailure } from '../core/errors.ts'

/** What an error of a provider says about itself. */
export interface Reported {
  message: string
  /** Every word that names the kind: type, code, status, in lower case. */
  words: readonly string[]
  /** The object lists why the content was rejected. */
  isAboutContent: boolean
}

export interface Refusal {
  kind: UpstreamFailure
  errorType?: ErrorType
  reach?: Reach
}

interface Row {
  readonly statuses: readonly number[]
  /** Matches one of the words. */
  readonly word?: RegExp
  readonly message?: RegExp
  /** Matches the message, beside `message`. */
  readonly about?: RegExp
  readonly is: readonly [kind: UpstreamFailure, errorType?: ErrorType | undefined, reach?: Reach]
}

/** The statuses of a request that was rejected; many servers know 400 alone. */
const REJECTED = [400, 403, 404, 409, 410, 413, 415, 422, 451]

/**
 * What a refusal means, for every dialect; the first row that matches counts. A row matches by its `word` or by its
 * `message`; a row with neither matches by its status alone. Three classes: ours (`credential`), this endpoint's (`unsuitable`) and, without a row,
 * the caller's. In doubt it is this endpoint's: a needless second call costs less than a needless error. Every pattern is
 * an alternation of literal texts or has bounded gaps: messages may repeat the prompt.
 */
const ROWS: readonly Row[] = [
  // Ours: a bad key as a 400: xAI `Incorrect API key provided`, Google `API_KEY_INVALID` (recorded 2025-26). The words stand
  // close together, so that a caller's tool of the name `get_api_key` is not taken for our key.
  {
    statuses: [400],
    word: /api_key|authentication|unauthorized/,
    message:
      /\b(?:incorrect|invalid|missing|expired|wrong|no) (?:x-)?(?:api[ -]?key|credentials?|authentication|authorization|subscription key|access token)\b|\bapi[ -]?key (?:provided )?(?:is |was |has )?(?:not valid|invalid|incorrect|expired|missing|not found)/i,
    is: ['credential'],
  },
  // Ours: an empty account. OpenAI and Moonshot 429 or 403 `insufficient_quota`, `exceeded_current_quota_error`
  // (MoonshotAI/Kimi-K2#5), Alibaba 400 `Arrearage`, Zhipu 429 `1113` (langgenius/dify#5850), DeepSeek 402.
  { statuses: [402], is: ['credential', 'payment_required'] },
  {
    statuses: [400, 403, 429],
    word: /insufficient_(?:quota|balance|funds|credits)|exceeded_current_quota|billing|arrearage|^1113$/,
    is: ['credential', 'payment_required'],
  },
  // Anthropic 400 (anthropics/claude-code), xAI 403 and 429 (continuedev/continue#12670, #10373).
  {
    statuses: [400, 403, 429],
    message: /credit balance is too low|used all available credits|doesn't have any credits/i,
    is: ['credential', 'payment_required'],
  },
  // Its moderation: OpenAI and Azure `content_filter`, `content_policy_violation`, `invalid_prompt`; Moonshot `content_filter`
  // (kimi-cli#1002), Alibaba `DataInspectionFailed` (QwenLM/Qwen#938), Zhipu `1301` (langchain4j#1079), OpenRouter 403.
  {
    statuses: REJECTED,
    word: /content_?filter|policy|moderation|safety|data_?inspection|^invalid_prompt$|^1301$/,
    is: ['unsuitable', 'content_policy_violation'],
  },
  // MiniMax 422 `new_sensitive (1026)` (esengine/DeepSeek-Reasonix#6818), xAI 403 (stanford-crfm/helm#3770), Mistral, Together.
  {
    statuses: REJECTED,
    message:
      /new_sensitive|inappropriate content|considered high risk|violates usage guidelines|violating our usage policy|(?:flagged|blocked) by (?:our |the )?(?:moderation|safety|content)/i,
    is: ['unsuitable', 'content_policy_violation'],
  },
  // Its region: OpenAI 403 (songquanpeng/one-api#1692), Google 400 (google-gemini/gemini-cli#24641); RFC 7725.
  {
    statuses: [400, 403],
    word: /unsupported_country/,
    message:
      /user location is not supported|region, or territory not supported|not available in your (?:country|region)/i,
    is: ['unsuitable', 'permission_denied'],
  },
  { statuses: [451], is: ['unsuitable', 'permission_denied'] },
  // Its output bound: Bedrock (bedrock-access-gateway#41), Groq (RooCodeInc/Roo-Code#5729), Anthropic, OpenAI.
  {
    statuses: [400],
    about: /max_(?:completion_|output_|new_)?tokens|maximum tokens/i,
    message: /less than or equal|at most|exceeds the model limit|should be \[|maximum allowed/i,
    is: ['unsuitable', 'invalid_request'],
  },
  // Its context: OpenAI and vLLM `maximum context length`, Anthropic `prompt is too long`, Google `input token count`,
  // Bedrock `Input is too long`, Cohere `TOO_MANY_TOKENS`, Ollama, Perplexity, OpenRouter (all recorded 2025-26); Alibaba
  // `Range of input length` (QwenLM/qwen-code#98), Moonshot `model token limit` (kimi-cli#2011), llama.cpp, with 500 too
  // (ggml-org/llama.cpp#15780, #19774), Azure `tokens_limit_reached` (dyad#1950), Cerebras (cline#5140), Zhipu `1261`,
  // Bedrock `Number of input tokens exceeds maximum length`, llama.cpp `too large to process` (recorded 2026).
  {
    statuses: [...REJECTED, 500],
    word: /context_(?:length|window|size)|too_many_(?:prompt_)?tokens|tokens_limit_reached|string_above_max_length|^1261$/,
    message:
      /context[ _](?:length|window|size|limit)|maximum context|(?:prompt|input|request|messages)[^.]{0,40} (?:is |are )?too long|too many (?:prompt |input )?tokens|maximum number of tokens allowed|range of input length|input tokens exceeds? maximum|tokens\) is too large to process|model token limit|reduce the length of the messages|inputs` tokens \+/i,
    is: ['unsuitable', 'context_length_exceeded'],
  },
  // Its size: Anthropic `request_too_large`; Groq 413 and OpenAI 429 above the tokens per minute of an account, where
  // waiting never helps (continuedev/continue#10218, vanna-ai/vanna-flask#11).
  { statuses: [413], is: ['unsuitable', 'payload_too_large'] },
  { statuses: [429], message: /^request too large/i, is: ['unsuitable', 'payload_too_large'] },
  // No model of that name: OpenAI, Groq and Cerebras `model_not_found`, with 403 too; Groq `model_decommissioned` (RightNow-AI/openfang#60),
  // Mistral `invalid_model` (tmc/langchaingo#1233), Together `model_not_available` and `dedicated_endpoint_not_running`
  // (HeyPuter/puter#3168), Hugging Face `model_not_supported` (cline#5098), Azure `DeploymentNotFound`, Zhipu `1211`.
  {
    statuses: REJECTED,
    word: /model_?not_?(?:found|exist)|(?:invalid|unknown)_model|model_(?:decommissioned|deprecated)|deploymentnotfound|dedicated_endpoint_not_running|^1211$/,
    is: ['unsuitable', 'not_found', 'endpoint'],
  },
  // These are also used for a model without a function that the request needs.
  {
    statuses: REJECTED,
    word: /model_?not_?(?:supported|available)|unsupported_model/,
    is: ['unsuitable', 'not_found'],
  },
  // Only a 404 counts for every request: other statuses may repeat a text of the caller. Anthropic: `model: claude-1`.
  {
    statuses: [404],
    about: /\bmodel|deployment/i,
    message:
      /\bnot exist\b|not found|not deployed|^model: |end of its life|decommissioned|model is not available/i,
    is: ['unsuitable', 'not_found', 'endpoint'],
  },
  // DeepSeek `Model Not Exist`, Bedrock `The provided model identifier is invalid` and `reached the end of its life`
  // (recorded 2025), `on-demand throughput isn’t supported` (terricain/aioboto3#352), AWS and OpenAI 403 `access to the model`,
  // DeepSeek `The supported API model names are` and OpenRouter `is not a valid model ID` (recorded 2026).
  {
    statuses: [400, 403, 404, 422],
    about: /\bmodel|deployment/i,
    message:
      /\bnot exist\b|not found|not deployed|model identifier is invalid|end of its life|decommissioned|on-demand throughput|access to (?:the )?model|invalid model|valid model id|supported (?:api )?model names|model is not available/i,
    is: ['unsuitable', 'not_found'],
  },
  // No flex capacity: Groq 498, OpenAI 429 `resource_unavailable` (their documentation of flex processing, 2026).
  { statuses: [498], is: ['unsuitable', 'provider_overloaded'] },
  { statuses: [429], word: /resource_unavailable/, is: ['unsuitable', 'provider_overloaded'] },
  // A parameter or an input that it does not know. OpenAI and Azure `unsupported_parameter`, `unsupported_value`
  // (cline#2643, microsoft/vscode#261278), vLLM `is not a multimodal model`
  // (dots.ocr#61), DeepSeek `unknown variant image_url` (vercel/ai#9179), OpenRouter and Xiaomi 404 `support image
  // input` (openclaw#99078), Bedrock `doesn't support` (amazon-bedrock-samples#608), Ollama `does not support tools`
  // (ollama#14795), LM Studio `does not support images` (lmstudio-bug-tracker#362), Google `is not enabled for`, Bedrock
  // `extraneous key`, OpenAI `expected to be either text or`, Anthropic's bounds of strict schemas (recorded 2026) and
  // `Extra inputs are not permitted` (OpenHands/software-agent-sdk#1630, litellm#13609).
  {
    statuses: [400, 404, 501],
    word: /unsupported|not_?supported|unknown_parameter/,
    message:
      /\bnot (?:currently |yet )?support(?:ed)?\b|\bunsupported\b|n['’]t support|endpoints found that support|unknown variant|not a multimodal model|unrecognized request argument|unknown parameter|cannot find field|not enabled for|must be a string|requires --|max_tokens is too large|extraneous key|extra inputs are not permitted|expected to be either text or|too many (?:strict tools|optional parameters|parameters with union)|schema is too complex/i,
    is: ['unsuitable', 'invalid_request'],
  },
  // llama.cpp reports these with 500.
  {
    statuses: [500],
    message: /(?:image|audio) input is not supported|requires --jinja/i,
    is: ['unsuitable', 'invalid_request'],
  },
  // A route, a method, a media type, a function that it does not have.
  { statuses: [404, 405], is: ['unsuitable', 'not_found'] },
  { statuses: [410], is: ['unsuitable', 'not_found', 'endpoint'] },
  { statuses: [415, 501], is: ['unsuitable', 'invalid_request'] },
  // FastAPI's words for a value that no schema accepts. Any other 422 is about this server's own schema,
  // such as Mistral's `extra_forbidden` (Gitlawb/openclaude#739).
  {
    statuses: [422],
    word: /^(?:missing|json_invalid)$|_(?:type|parsing)$/,
    is: ['caller', 'unprocessable'],
  },
  { statuses: [422], is: ['unsuitable', 'unprocessable'] },
  // About the provider, by status alone.
  { statuses: [401, 403], is: ['credential'] },
  { statuses: [408, 409, 424, 425], is: ['server'] },
  // The limit of all models together: Moonshot (LLM-Red-Team/kimi-cc#16), Cohere's trial keys (sandbox-condense#5).
  {
    statuses: [429],
    message:
      /\b(?:organization max|max organization) (?:concurrency|[rt]p[md])\b|^organization rate limit|\btrial key, which is limited/i,
    is: ['rate-limit', undefined, 'account'],
  },
  { statuses: [429], is: ['rate-limit'] },
  { statuses: [529], is: ['overloaded'] },
  {
    statuses: [503],
    word: /overloaded|capacity/,
    message: /overloaded|capacity|high demand|too busy/i,
    is: ['overloaded'],
  },
]

/** What the refusal means. Without a row: below 400 nothing was answered, below 499 the caller is at fault. */
export function refusalOf(reported: Reported, status: number): Refusal {
  if (reported.isAboutContent && REJECTED.includes(status))
    return { kind: 'unsuitable', errorType: 'content_policy_violation' }
  for (const { is, ...row } of ROWS) {
    if (!matches(row, reported, status)) continue
    const [kind, errorType, reach] = is
    return { kind, ...(errorType && { errorType }), ...(reach && { reach }) }
  }
  if (status < 400) return { kind: 'connect' }
  return status < 499 ? { kind: 'caller', errorType: 'invalid_request' } : { kind: 'server' }
}

function matches(
  { statuses, word, message, about }: Omit<Row, 'is'>,
  reported: Reported,
  status: number,
): boolean {
  if (!statuses.includes(status)) return false
  if (about && !about.test(reported.message)) return false
  if (!word && !message) return true
  return (
    (word !== undefined && reported.words.some((each) => word.test(each))) ||
    (message?.test(reported.message) ?? false)
  )
}

/** The status that a word stands for: errors in a stream often name their kind only so. */
const STATUSES: readonly (readonly [RegExp, number])[] = [
  // Codes of OpenAI's failed responses that blame the request (openai-node, 2026).
  [/^failed_to_download|^image_file_not_found$|^invalid_prompt$|policy/, 400],
  [/rate_?limit|too_many_requests|resource_exhausted|insufficient_quota|throttl/, 429],
  [/overloaded/, 529],
  [/authentication|unauthorized|unauthenticated|invalid_api_key/, 401],
  [/billing|payment|insufficient_(?:credits|balance|funds)/, 402],
  [/permission|forbidden/, 403],
  [/not_found/, 404],
  [/too_large/, 413],
  [
    /invalid_request|invalid_argument|bad_?request|context_(?:length|size)|content_(?:filter|policy)|tool_use_failed/,
    400,
  ],
  [/timeout|deadline/, 504],
  [/unavailable/, 503],
  [/server_error|api_error|internal|upstream/, 500],
  [/^(?:empty|invalid|unsupported)_|^image_|too_(?:small|long)$/, 400],
]

export function statusOfWords(words: readonly string[]): number | undefined {
  for (const [pattern, status] of STATUSES) if (words.some((word) => pattern.test(word))) return status
  return undefined
}
