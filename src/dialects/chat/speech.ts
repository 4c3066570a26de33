import type { SpeechRequest } from '../../core/operation.ts'
import type { UpstreamReply } from '../../core/reply.ts'
import { forwardedBody } from '../operations/fields.ts'
import { malformed, readJson } from '../operations/reply.ts'
import { MEDIA_TYPES } from '../operations/speech.ts'
import type { SpeechSpeaker } from '../speech-speaker.ts'

/** OpenAI's models demand a voice; callers of this API need none. */
const DEMANDS_VOICE = /(?:^|\/)(?:tts-1|gpt-4o-mini-tts)/i
const DEFAULT_VOICE = 'alloy'

/** OpenAI's `/audio/speech`: a body in JSON, and sound as it is made. */
export const chatSpeech: SpeechSpeaker = {
  build(request, attempt) {
    // Sound is relayed as bytes: a stream of events would be another format.
    const body = forwardedBody(request, attempt, ['stream_format'])
    body['response_format'] = request.format
    if (request.voice === undefined && DEMANDS_VOICE.test(attempt.endpoint.upstreamId)) {
      body['voice'] = DEFAULT_VOICE
    }
    return { path: '/audio/speech', headers: {}, body, dropped: [] }
  },
  async read(reply, request) {
    const type = (reply.headers.get('content-type') ?? '').trim().toLowerCase()
    if (!isSound(type)) throw await noSound(reply)
    const iterator = reply.bytes[Symbol.asyncIterator]()
    const first = await iterator.next()
    if (first.done) throw malformed('the reply is empty')
    return {
      audio: { mediaType: mediaTypeOf(type, request), chunks: continued(first.value, iterator) },
      usage: null,
    }
  },
}

/** Servers that do not know their own type say octet-stream, or nothing. */
const isSound = (type: string): boolean => type === '' || /^(?:audio|video)\/|octet-stream/.test(type)

const mediaTypeOf = (type: string, { format }: SpeechRequest): string =>
  type.startsWith('audio/') ? type : MEDIA_TYPES[format]

/** An error object, or something that is no sound at all. */
async function noSound(reply: UpstreamReply): Promise<unknown> {
  await readJson(reply)
  return malformed('the reply is no sound')
}

function continued(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  let isFirst = true
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        if (!isFirst) return rest.next()
        isFirst = false
        return Promise.resolve({ value: first, done: false as const })
      },
      return: async () => {
        await rest.return?.()
        return { value: undefined, done: true as const }
      },
    }),
  }
}
