import type { DialectName } from '../core/events.ts'
import type { EmbeddingsRequest, EmbeddingsResult, RerankRequest, RerankResult } from '../core/operation.ts'
import { chatEmbeddings } from './chat/embeddings.ts'
import { chatRerank } from './chat/rerank.ts'
import { cohereEmbeddings } from './cohere/embeddings.ts'
import { cohereRerank } from './cohere/rerank.ts'
import { geminiEmbeddings } from './gemini/embeddings.ts'
import type { Operation } from './operation.ts'

/** How an operation is asked for at providers of each dialect; absent: they do not have it. */
export type Speakers<Request extends EmbeddingsRequest | RerankRequest, Result> = Readonly<
  Partial<Record<DialectName, Operation<Request, Result>>>
>

/** Providers of dialects without a form of their own have OpenAI's `/embeddings` beside it, if they have any. */
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
