import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import { asText, defined, fieldsOf, isObject } from '../../core/json.ts'
import { bodyIn, type InferenceRequest, type Sampling } from '../../core/request.ts'
import type { DialectCall } from '../dialect.ts'
import { type Drop, dropsInto, NEUTRAL_CHAT_FIELDS, writeServiceTier } from '../dropped.ts'
import { writeContents } from './build-contents.ts'
import { ownBody } from './build-own.ts'
import { dropMark } from './build-parts.ts'
import { generationOf, writeThinking } from './build-thinking.ts'
import { writeTools } from './build-tools.ts'
import { breakpointsOf, placesOf } from './context-cache.ts'
import { writeSchema } from './json-schema.ts'
import { createSchemaBudget, type SchemaBudget } from './json-schema-rules.ts'

/** Sampling: neutral field → the API's name → field of `generationConfig`; null if Gemini has none. */
const TUNING: readonly (readonly [keyof Sampling, name: string, field: string | null])[] = [
  ['temperature', 'temperature', 'temperature'],
  ['topP', 'top_p', 'topP'],
  ['topK', 'top_k', 'topK'],
  ['seed', 'seed', 'seed'],
  ['stop', 'stop', 'stopSequences'],
  ['presencePenalty', 'presence_penalty', 'presencePenalty'],
  ['frequencyPenalty', 'frequency_penalty', 'frequencyPenalty'],
  ['logprobs', 'logprobs', 'responseLogprobs'],
  ['topLogprobs', 'top_logprobs', 'logprobs'],
  ['topA', 'top_a', null],
  ['minP', 'min_p', null],
  ['repetitionPenalty', 'repetition_penalty', null],
  ['logitBias', 'logit_bias', null],
]

/** Fields of a chat body that are carried here. Any other field that the caller set is dropped by name. */
const CARRIED: ReadonlySet<string> = new Set([...NEUTRAL_CHAT_FIELDS, 'audio'])

/** The call of `:countTokens`. Vertex takes the fields themselves, AI Studio a complete request. */
export function buildCount(request: InferenceRequest, attempt: Attempt): DialectCall {
  const { body, ...call } = buildGemini({ ...request, stream: false }, attempt)
  const { contents, systemInstruction, tools } = body
  const isVertex = attempt.provider.quirks.embeddings?.form === 'instances'
  const model = `models/${attempt.endpoint.upstreamId.replace(/^models\//, '')}`
  return {
    ...call,
    path: call.path.replace(/:generateContent$/, ':countTokens'),
    body: isVertex
      ? defined({ contents, systemInstruction, tools })
      : { generateContentRequest: defined({ model, contents, systemInstruction, tools }) },
  }
}

/** The call of `generateContent` or `streamGenerateContent`. Never changes `request`. */
export function buildGemini(request: InferenceRequest, attempt: Attempt): DialectCall {
  const dropped: string[] = []
  const drop = dropsInto(dropped)
  const budget = createSchemaBudget()
  const { serviceTier } = request
  const { upstreamId } = attempt.endpoint
  if (bodyIn(request, 'gemini')) {
    const body = ownBody(request, attempt, drop)
    return { path: pathOf(upstreamId, request.stream), headers: {}, body, dropped }
  }
  const { systemInstruction, contents, marks } = writeContents(
    request.messages,
    generationOf(upstreamId),
    drop,
  )
  const generationConfig = defined({
    ...writeTuning(request, attempt, drop),
    maxOutputTokens: attempt.outputBound ?? request.maxOutputTokens,
    candidateCount: request.choiceCount,
    responseModalities: request.modalities?.map((modality) => modality.toUpperCase()),
    ...writeFormat(request, upstreamId, drop, budget),
    ...writeMediaConfig(request, drop),
    thinkingConfig: writeThinking(request.reasoning, attempt, drop),
  })
  const body = defined({
    systemInstruction,
    contents,
    ...writeTools(request, upstreamId, drop, budget),
    generationConfig: Object.keys(generationConfig).length > 0 ? generationConfig : undefined,
    serviceTier: serviceTier === 'auto' ? undefined : writeServiceTier(serviceTier, TIERS, drop),
  })
  dropRest(request, drop)
  const call = { path: pathOf(upstreamId, request.stream), headers: {}, body, dropped }
  const places = placesOf(request, marks)
  return places.length === 0 ? call : { ...call, breakpoints: () => breakpointsOf(call, places) }
}

/** `models/…` is implied; a name with its own collection (`tunedModels/…`) keeps it. */
function pathOf(upstreamId: string, stream: boolean): string {
  const name = /^(?:models|tunedModels|publishers|projects)\//.test(upstreamId)
    ? upstreamId
    : `models/${upstreamId}`
  const path = name.split('/').map(encodeURIComponent).join('/')
  return `/${path}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
}

function writeTuning({ sampling }: InferenceRequest, { endpoint }: Attempt, drop: Drop): JsonObject {
  const known = endpoint.supportedParameters
  const config: JsonObject = {}
  for (const [key, name, field] of TUNING) {
    const value = sampling[key]
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue
    if (field === null || (known !== null && !known.includes(name))) drop(name)
    else config[field] = value
  }
  return config
}

/** Before Gemini 3, JSON is rejected beside functions: the functions are kept. */
function writeFormat(
  { responseFormat, tools }: InferenceRequest,
  upstreamId: string,
  drop: Drop,
  budget: SchemaBudget,
): JsonObject {
  const type = responseFormat?.['type']
  if (responseFormat === undefined || type === 'text') return {}
  const { isNew } = generationOf(upstreamId)
  if ((type !== 'json_object' && type !== 'json_schema') || (tools.length > 0 && !isNew)) {
    drop('response_format')
    return {}
  }
  const json = responseFormat['json_schema']
  const schema = type === 'json_schema' ? fieldsOf(json)['schema'] : undefined
  const responseMimeType = 'application/json'
  if (!isObject(schema)) return { responseMimeType }
  const written = writeSchema(schema, 'response_format.json_schema.schema', drop, budget)
  return written.form === 'openapi'
    ? { responseMimeType, responseSchema: written.schema }
    : { responseMimeType, responseJsonSchema: written.schema }
}

/** Options of images and speech, which only the chat dialect has. */
function writeMediaConfig(request: InferenceRequest, drop: Drop): JsonObject {
  const { image_config, audio } = bodyIn(request, 'chat') ?? {}
  const config: JsonObject = {}
  if (isObject(image_config)) {
    const { aspect_ratio, image_size, ...rest } = image_config
    for (const name of Object.keys(rest)) drop(`image_config.${name}`)
    config['imageConfig'] = defined({ aspectRatio: aspect_ratio, imageSize: image_size })
  }
  if (isObject(audio)) {
    // Gemini's audio is always PCM.
    if (audio['format'] !== undefined && audio['format'] !== 'pcm16') drop('audio.format')
    const voiceName = asText(audio['voice'])
    if (voiceName) config['speechConfig'] = { voiceConfig: { prebuiltVoiceConfig: { voiceName } } }
  }
  return config
}

const TIERS: Readonly<Record<string, string>> = {
  default: 'standard',
  flex: 'flex',
  priority: 'priority',
  fast: 'priority',
}

function dropRest(request: InferenceRequest, drop: Drop): void {
  const { user, metadata } = request
  if (user !== undefined) drop('user')
  if (metadata !== undefined && Object.keys(metadata).length > 0) drop('metadata')
  if (isObject(request.body.cache_control)) dropMark(request.body.cache_control, drop)
  for (const [name, value] of Object.entries(bodyIn(request, 'chat') ?? {})) {
    if (value === null || value === undefined || CARRIED.has(name)) continue
    drop(name)
  }
}
