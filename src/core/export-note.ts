import type { ApiType } from './request.ts'

/**
 * What destinations of observability get of a generation that its row in the ledger does not have. It is written in the
 * commit of the row, as JSON of about 400 bytes at most.
 */
export interface ExportNote {
  /** Without prefix (`/completions`); absent: `ROUTES` has it. */
  readonly route?: string
  /** The model that was asked for; absent: the one that answered. */
  readonly model?: string
  /** The host that was called last. */
  readonly host?: string
  readonly parameters?: ExportParameters
  /** When each attempt began, in milliseconds after the request; absent: there was none. */
  readonly attempts?: readonly number[]
  /** The part of the cost that the prompt has; absent: unknown. */
  readonly promptNanoUsd?: number
  /** Absent: the request had no `traceparent`. */
  readonly trace?: CallerTrace
  /** Of a cached answer: the trace of the generation that it repeats. */
  readonly sourceTraceId?: string
  /** Its content is stored for destinations that may have it. */
  readonly content?: true
}

/** Of the headers `traceparent` and `tracestate`. */
export type CallerTrace = readonly [traceId: string, spanId: string, state: string | null]

export interface ExportParameters {
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly topK?: number | undefined
  readonly maxTokens?: number | undefined
  readonly frequencyPenalty?: number | undefined
  readonly presencePenalty?: number | undefined
  readonly seed?: number | undefined
  readonly stop?: readonly string[] | undefined
  readonly choices?: number | undefined
  readonly reasoningEffort?: string | undefined
  /** `text`, `json`, `image`, `speech`. */
  readonly outputType?: string | undefined
  /** Number of tools that the request declared. */
  readonly tools?: number | undefined
}

/** The usual route of each kind of inference, without prefix. */
export const ROUTES: Readonly<Record<ApiType | 'tool', string>> = {
  completions: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
  gemini: '/models',
  embeddings: '/embeddings',
  image: '/images/generations',
  rerank: '/rerank',
  moderation: '/moderations',
  ocr: '/ocr',
  tts: '/audio/speech',
  stt: '/audio/transcriptions',
  tool: '/tools',
}
