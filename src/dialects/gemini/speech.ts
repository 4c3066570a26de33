import type { JsonObject } from '../../core/events.ts'
import { asList, asText, fieldsOf, objectsIn } from '../../core/json.ts'
import type { SpeechRequest } from '../../core/operation.ts'
import type { SpeechSpeaker } from '../operation.ts'
import { providerOptions } from '../operations/fields.ts'
import { malformed, readJsonObject } from '../operations/reply.ts'
import { MEDIA_TYPES } from '../operations/speech.ts'
import { readUsage } from './usage.ts'

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
export const geminiSpeech: SpeechSpeaker = {
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

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes
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
