import type { JsonObject } from './events.ts'
import type { ContentPart, RoutedRequest } from './request.ts'

/** Inference that is one question and one answer: what is asked and what comes back, in no wire format. */

export type EmbeddingInput =
  | { type: 'text'; text: string }
  | { type: 'tokens'; tokens: number[] }
  | { type: 'parts'; parts: ContentPart[] }

export interface EmbeddingsRequest extends RoutedRequest {
  apiType: 'embeddings'
  /** Never empty. */
  inputs: EmbeddingInput[]
  dimensions?: number
  encodingFormat: 'float' | 'base64'
  /** What the vectors are for (`query`, `document` …), in the caller's words. */
  inputType?: string
}

/** Numbers, or little-endian 32-bit floats in base64. */
export type Embedding = number[] | string

export interface EmbeddingsResult {
  /** One for each input, in the order of the inputs. */
  embeddings: Embedding[]
}

export type RerankDocument = string | (JsonObject & { text?: string; image?: string })

export interface RerankRequest extends RoutedRequest {
  apiType: 'rerank'
  query: string
  /** Never empty. */
  documents: RerankDocument[]
  topN?: number
}

export interface RerankResult {
  /** `index` is a place in the request's documents. */
  ranking: { index: number; score: number }[]
}
