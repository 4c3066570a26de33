import type { Attempt } from '../core/attempt.ts'
import type { DialectName } from '../core/events.ts'
import type {
  EmbeddingsRequest,
  EmbeddingsResult,
  ModerationRequest,
  ModerationResult,
  OcrRequest,
  OcrResult,
  RerankRequest,
  RerankResult,
  TranscriptionRequest,
  TranscriptionResult,
} from '../core/operation.ts'
import type { RoutedRequest } from '../core/request.ts'
import type { EndpointRecord } from '../core/snapshot.ts'
import { chatSpeech, chatTranscription } from './chat/audio.ts'
import { chatImages } from './chat/images.ts'
import { chatOcr } from './chat/ocr.ts'
import { chatEmbeddings, chatModerations, chatRerank } from './chat/operations.ts'
import { cohereEmbeddings, cohereRerank } from './cohere/operations.ts'
import type { Egress } from './dialect.ts'
import { imagenImages } from './gemini/images.ts'
import { geminiEmbeddings, geminiSpeech } from './gemini/operations.ts'
import { egresses } from './index.ts'
import type { ImageEgress, Operation, SpeechEgress } from './operation.ts'
import { conversationImages } from './operations/conversation-images.ts'

/** The form of an operation in each dialect; absent: the dialect does not have it. */
export type OperationEgresses<Request extends RoutedRequest, Result> = Readonly<
  Partial<Record<DialectName, Operation<Request, Result>>>
>

/** Providers of dialects without their own form have OpenAI's `/embeddings`, if they have embeddings. */
export const embeddingsEgresses: OperationEgresses<EmbeddingsRequest, EmbeddingsResult> = {
  chat: chatEmbeddings,
  responses: chatEmbeddings,
  messages: chatEmbeddings,
  converse: chatEmbeddings,
  gemini: geminiEmbeddings,
  cohere: cohereEmbeddings,
}

export const rerankEgresses: OperationEgresses<RerankRequest, RerankResult> = {
  chat: chatRerank,
  responses: chatRerank,
  messages: chatRerank,
  converse: chatRerank,
  gemini: chatRerank,
  cohere: cohereRerank,
}

export const moderationEgresses: OperationEgresses<ModerationRequest, ModerationResult> = {
  chat: chatModerations,
  responses: chatModerations,
}

export const ocrEgresses: OperationEgresses<OcrRequest, OcrResult> = { chat: chatOcr }

export const speechEgresses: Readonly<Partial<Record<DialectName, SpeechEgress>>> = {
  chat: chatSpeech,
  responses: chatSpeech,
  gemini: geminiSpeech,
}

export const transcriptionEgresses: OperationEgresses<TranscriptionRequest, TranscriptionResult> = {
  chat: chatTranscription,
  responses: chatTranscription,
}

const egressesByName: Readonly<Partial<Record<DialectName, Egress>>> = egresses

const inConversation = conversationImages(({ dialect }: Attempt) => {
  const egress = egressesByName[dialect]
  if (!egress) throw new Error(`the dialect ${dialect} is not implemented`)
  return egress
})

/** Models with only an image route, although catalogues list text output for some. */
const WRITES_NO_TEXT = /gpt-image|chatgpt-image|dall-e|imagen|flux/i

/**
 * How this endpoint makes images: in a conversation if the model is known to write text too, else on the image
 * route of its dialect; undefined if it has none.
 */
export function imageEgressFor(
  dialect: DialectName,
  { upstreamId, outputModalities }: EndpointRecord,
): ImageEgress | undefined {
  const writesText = outputModalities.includes('text') && !WRITES_NO_TEXT.test(upstreamId)
  if (dialect === 'gemini') return /imagen/i.test(upstreamId) ? imagenImages : inConversation
  if (dialect === 'chat' || dialect === 'responses') return writesText ? inConversation : chatImages
  return undefined
}
