import type { Attempt } from '../core/attempt.ts'
import type { DialectName } from '../core/events.ts'
import type {
  EmbeddingsRequest,
  EmbeddingsResult,
  ModerationRequest,
  ModerationResult,
  RerankRequest,
  RerankResult,
  TranscriptionRequest,
  TranscriptionResult,
} from '../core/operation.ts'
import type { RoutedRequest } from '../core/request.ts'
import type { EndpointRecord } from '../core/snapshot.ts'
import { chatSpeech, chatTranscription } from './chat/audio.ts'
import { chatImages } from './chat/images.ts'
import { chatEmbeddings, chatModerations, chatRerank } from './chat/operations.ts'
import { cohereEmbeddings, cohereRerank } from './cohere/operations.ts'
import type { Egress } from './dialect.ts'
import { imagenImages } from './gemini/images.ts'
import { geminiEmbeddings, geminiSpeech } from './gemini/operations.ts'
import { egresses } from './index.ts'
import type { ImageSpeaker, Operation, SpeechSpeaker } from './operation.ts'
import { conversationImages } from './operations/conversation-images.ts'

/** The form of an operation in each dialect; absent: the dialect does not have it. */
export type Speakers<Request extends RoutedRequest, Result> = Readonly<
  Partial<Record<DialectName, Operation<Request, Result>>>
>

/** Providers of dialects without their own form have OpenAI's `/embeddings`, if they have embeddings. */
export const embeddingsSpeakers: Speakers<EmbeddingsRequest, EmbeddingsResult> = {
  chat: chatEmbeddings,
  responses: chatEmbeddings,
  messages: chatEmbeddings,
  converse: chatEmbeddings,
  gemini: geminiEmbeddings,
  cohere: cohereEmbeddings,
}

export const rerankSpeakers: Speakers<RerankRequest, RerankResult> = {
  chat: chatRerank,
  responses: chatRerank,
  messages: chatRerank,
  converse: chatRerank,
  gemini: chatRerank,
  cohere: cohereRerank,
}

export const moderationSpeakers: Speakers<ModerationRequest, ModerationResult> = {
  chat: chatModerations,
  responses: chatModerations,
}

export const speechSpeakers: Readonly<Partial<Record<DialectName, SpeechSpeaker>>> = {
  chat: chatSpeech,
  responses: chatSpeech,
  gemini: geminiSpeech,
}

export const transcriptionSpeakers: Speakers<TranscriptionRequest, TranscriptionResult> = {
  chat: chatTranscription,
  responses: chatTranscription,
}

const spoken: Readonly<Partial<Record<DialectName, Egress>>> = egresses

const inConversation = conversationImages(({ dialect }: Attempt) => {
  const egress = spoken[dialect]
  if (!egress) throw new Error(`the dialect ${dialect} is not implemented`)
  return egress
})

/** Models with only an image route, although catalogues list text output for some. */
const NEVER_SPEAKS = /gpt-image|chatgpt-image|dall-e|imagen|flux/i

/**
 * How this endpoint makes images: in a conversation if the model is known to write text too, else on the image
 * route of its dialect; undefined if it has none.
 */
export function imageSpeakerFor(
  dialect: DialectName,
  { upstreamId, outputModalities }: EndpointRecord,
): ImageSpeaker | undefined {
  const speaks = outputModalities.includes('text') && !NEVER_SPEAKS.test(upstreamId)
  if (dialect === 'gemini') return /imagen/i.test(upstreamId) ? imagenImages : inConversation
  if (dialect === 'chat' || dialect === 'responses') return speaks ? inConversation : chatImages
  return undefined
}
