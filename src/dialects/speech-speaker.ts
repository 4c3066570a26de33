import type { Attempt } from '../core/attempt.ts'
import type { SpeechRequest, SpokenAudio } from '../core/operation.ts'
import type { UpstreamReply } from '../core/reply.ts'
import type { Usage } from '../core/usage.ts'
import type { DialectCall } from './dialect.ts'

/** How speech is asked for at a provider. */
export interface SpeechSpeaker {
  /** Why it cannot speak as asked, to complete "<provider> …"; null: it can. */
  cannot?(request: SpeechRequest): string | null
  build(request: SpeechRequest, attempt: Attempt): DialectCall
  /** Reads a 2xx reply up to its first sound. Throws `malformed` for what is none. */
  read(reply: UpstreamReply, request: SpeechRequest): Promise<{ audio: SpokenAudio; usage: Usage | null }>
}
