import type { JsonObject } from './events.ts'
import type { ContentPart, RoutedRequest } from './request.ts'

/** Inference with one request and one reply (embeddings, images, audio …), independent of wire formats. */

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
  /** The use of the vectors (`query`, `document` …), in the caller's words. */
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

export interface ModerationRequest extends RoutedRequest {
  apiType: 'moderation'
  /** What is to be judged, for the reservation; media have no price. */
  texts: string[]
}

export interface ModerationResult {
  /** As the provider wrote them: each names its categories in its own words. */
  results: JsonObject[]
}

export interface OcrRequest extends RoutedRequest {
  apiType: 'ocr'
  /** How many the document has. */
  pages: number
}

export interface OcrResult {
  /** Markdown, one text for each page. */
  pages: string[]
}

export interface ImagesRequest extends RoutedRequest {
  apiType: 'image'
  prompt: string
  /** How many. */
  count: number
  /** `WIDTHxHEIGHT`, or `auto`. */
  size?: string
  /** `W:H`, or `auto`. */
  aspectRatio?: string
  resolution?: Resolution
  quality?: string
  background?: string
  outputFormat?: string
  outputCompression?: number
  seed?: number
  references: ImageReference[]
  /** Where the first reference may be changed: its transparent parts. */
  mask?: ImageReference
  /** Asked for by OpenAI's name of an edit: its stream is named so too. */
  isEdit?: boolean
}

export type Resolution = '512' | '1K' | '2K' | '4K'

/** An image that the new one starts from: a data URL, once its URL was fetched. */
export interface ImageReference {
  url: string
  /** Its place in the request. */
  path: string
}

export interface MadeImage {
  base64: string
  /** By how its bytes begin; null where they do not tell. */
  mediaType: string | null
  /** Data about this image, such as the revised prompt. */
  native: JsonObject
}

export interface ImagesResult {
  images: MadeImage[]
  native: JsonObject
}

export interface SpeechRequest extends RoutedRequest {
  apiType: 'tts'
  input: string
  voice?: string
  format: SpeechFormat
  speed?: number
}

export type SpeechFormat = 'mp3' | 'pcm' | 'wav' | 'opus' | 'aac' | 'flac'

/** Sound as it comes: pulled, so that a slow caller slows the provider. */
export interface SpokenAudio {
  /** `audio/…` */
  mediaType: string
  /** Never empty. Throws the error of the connection. */
  chunks: AsyncIterable<Uint8Array>
}

export interface TranscriptionRequest extends RoutedRequest {
  apiType: 'stt'
  audio: AudioFile
  language?: string
  format: 'json' | 'verbose_json'
}

export interface AudioFile {
  content: Blob
  /** With an extension: providers read the format from it. */
  name: string
  /** By its own headers; null where they do not tell. */
  seconds: number | null
}

export interface TranscriptionResult {
  text: string
  /** Seconds, if the provider reports them. */
  duration: number | null
  /** Further fields: language, segments, words … */
  native: JsonObject
}
