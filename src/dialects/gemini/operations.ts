import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { asList, asText, defined, fieldsOf, objectsIn } from '../../core/json.ts'
import type {
  EmbeddingInput,
  EmbeddingsRequest,
  EmbeddingsResult,
  SpeechRequest,
} from '../../core/operation.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'
import { dropsInto } from '../dropped.ts'
import type { Operation, SpeechEgress } from '../operation.ts'
import { readEmbeddingList } from '../operations/embeddings.ts'
import { providerOptions } from '../operations/fields.ts'
import { vectorLimit } from '../operations/model-limits.ts'
import { countOf, malformed, readJsonObject } from '../operations/reply.ts'
import { MEDIA_TYPES, once } from '../operations/speech.ts'
import { writePart } from './build-parts.ts'
import { readUsage } from './usage.ts'

/** Other providers' input types → Google's task types; Google's own are kept. */
const TASKS: Readonly<Record<string, string>> = {
  query: 'RETRIEVAL_QUERY',
  search_query: 'RETRIEVAL_QUERY',
  document: 'RETRIEVAL_DOCUMENT',
  search_document: 'RETRIEVAL_DOCUMENT',
  passage: 'RETRIEVAL_DOCUMENT',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
}

/**
 * Google's `batchEmbedContents`: one request for each input.
 *
 * | OpenAI's | Google's |
 * |---|---|
 * | `input` | `requests[].content.parts` |
 * | `dimensions` | `requests[].outputDimensionality` |
 * | `input_type` | `requests[].taskType` |
 * | `encoding_format` | none: Google sends numbers, and Sluice encodes them |
 * | `user` | dropped by name |
 *
 * Vertex has `predict` with `instances[]` of `content` and `task_type`. It takes text alone and counts the tokens of each.
 */
export const geminiEmbeddings: Operation<EmbeddingsRequest, EmbeddingsResult> = {
  cannot(request, endpoint) {
    const { inputs } = request
    if (inputs.some(({ type }) => type === 'tokens')) return 'embeds text, not token ids'
    const hasUrl = inputs.some(
      (input) =>
        input.type === 'parts' &&
        input.parts.some((part) => part.type === 'image' && /^https?:/i.test(part.url)),
    )
    return hasUrl ? 'embeds images from data URLs, not from addresses' : vectorLimit(request, endpoint)
  },
  build(request, { endpoint, provider }) {
    const dropped: string[] = []
    const drop = dropsInto(dropped)
    if (request.user !== undefined) drop('user')
    const name = endpoint.upstreamId.replace(/^models\//, '')
    const taskType = taskOf(request)
    if (provider.quirks.embeddings?.form === 'instances') {
      const body = instancesOf(request, taskType, providerOptions(request.body, provider.slug))
      return { path: `/models/${encodeURIComponent(name)}:predict`, headers: {}, body, dropped }
    }
    const requests = request.inputs.map((input) =>
      defined<JsonObject>({
        model: `models/${name}`,
        content: { parts: partsOf(input, drop) },
        taskType,
        outputDimensionality: request.dimensions,
        ...providerOptions(request.body, provider.slug),
      }),
    )
    const path = `/models/${encodeURIComponent(name)}:batchEmbedContents`
    return { path, headers: {}, body: { requests }, dropped }
  },
  async read(reply, request) {
    const body = await readJsonObject(reply)
    const { predictions } = body
    const list = Array.isArray(predictions) ? predictions.map(embeddingIn) : asList(body['embeddings'])
    const values = list.map((entry) => fieldsOf(entry)['values'])
    const embeddings = readEmbeddingList(values, request.inputs.length)
    if (embeddings === null) throw malformed('the reply has not one embedding for each input')
    const usage = Array.isArray(predictions) ? countedIn(list) : readUsage(body['usageMetadata'])
    return { result: { embeddings }, upstreamId: null, usage: usage ?? null }
  },
}

const taskOf = ({ inputType }: EmbeddingsRequest): string | undefined =>
  inputType === undefined ? undefined : (TASKS[inputType.toLowerCase()] ?? inputType)

function instancesOf(
  { inputs, dimensions }: EmbeddingsRequest,
  taskType: string | undefined,
  options: JsonObject,
): JsonObject {
  const instances = inputs.map((input, index) =>
    defined<JsonObject>({ content: textOf(input, index), task_type: taskType }),
  )
  return { instances, parameters: defined<JsonObject>({ outputDimensionality: dimensions, ...options }) }
}

function textOf(input: EmbeddingInput, index: number): string {
  if (input.type === 'text') return input.text
  const parts = input.type === 'parts' ? input.parts : []
  return parts
    .map((part) => {
      if (part.type === 'text') return part.text
      throw badRequest('must be text: this provider embeds nothing else', `input[${index}].content`)
    })
    .join('')
}

const embeddingIn = (prediction: unknown): unknown => fieldsOf(prediction)['embeddings']

/** The sum of `statistics.token_count`; undefined if one is missing. */
function countedIn(list: readonly unknown[]): Usage | undefined {
  let inputTokens = 0
  for (const entry of list) {
    const count = countOf(fieldsOf(fieldsOf(entry)['statistics'])['token_count'])
    if (count === undefined) return undefined
    inputTokens += count
  }
  return { ...NO_USAGE, inputTokens }
}

function partsOf(input: EmbeddingInput, drop: (name: string) => void): JsonObject[] {
  if (input.type === 'text') return [{ text: input.text }]
  return input.type === 'parts' ? input.parts.flatMap((part) => writePart(part, drop)) : []
}

const RATE = 24_000

/**
 * Google's speech models answer `generateContent` with samples: 16 bits, one channel, 24 kHz.
 *
 * | asked | Google's |
 * |---|---|
 * | `input` | the user's text |
 * | `voice` | `speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName` |
 * | `response_format` | pcm as it comes, wav with a header |
 * | `speed`, `instructions`, `user` | dropped by name |
 */
export const geminiSpeech: SpeechEgress = {
  cannot: ({ format }) =>
    format === 'pcm' || format === 'wav'
      ? null
      : 'speaks pcm and wav alone: set "response_format" to one of them',
  build(request, { endpoint, provider }) {
    const dropped = ['speed', 'instructions', 'user', 'input_references'].filter(
      (name) => request.body[name] !== undefined && request.body[name] !== null,
    )
    const name = encodeURIComponent(endpoint.upstreamId.replace(/^models\//, ''))
    const generationConfig: JsonObject = { responseModalities: ['AUDIO'] }
    if (request.voice !== undefined) {
      generationConfig['speechConfig'] = {
        voiceConfig: { prebuiltVoiceConfig: { voiceName: request.voice } },
      }
    }
    const body = {
      contents: [{ role: 'user', parts: [{ text: request.input }] }],
      generationConfig,
      ...providerOptions(request.body, provider.slug),
    }
    return { path: `/models/${name}:generateContent`, headers: {}, body, dropped }
  },
  async read(reply, request) {
    const body = await readJsonObject(reply)
    const samples = samplesOf(body)
    if (samples.length === 0) throw malformed('the reply has no sound')
    const sound = request.format === 'wav' ? Buffer.concat([wavHeader(samples.length), samples]) : samples
    return {
      audio: { mediaType: mediaTypeOf(request), chunks: once(sound) },
      usage: readUsage(body['usageMetadata']) ?? null,
    }
  },
}

const mediaTypeOf = ({ format }: SpeechRequest): string =>
  format === 'pcm' ? `${MEDIA_TYPES.pcm};rate=${RATE};channels=1` : MEDIA_TYPES[format]

function samplesOf({ candidates }: JsonObject): Uint8Array {
  const [first] = asList(candidates)
  const { parts } = fieldsOf(fieldsOf(first)['content'])
  const texts = objectsIn(parts).map(({ inlineData }) => asText(fieldsOf(inlineData)['data']) ?? '')
  return Buffer.concat(texts.map((data) => Buffer.from(data, 'base64')))
}

/** RIFF, 44 bytes: PCM, one channel, 16 bits. */
function wavHeader(length: number): Uint8Array {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + length, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(RATE, 24)
  header.writeUInt32LE(RATE * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(length, 40)
  return header
}
