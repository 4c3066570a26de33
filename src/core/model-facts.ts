/** Model metadata that is the same for every provider. */
export interface ModelFacts {
  /** The tokenizer's family (`Claude`, `Llama3`, `Other`). */
  readonly tokenizer: string
  readonly instructType: string | null
  readonly huggingFaceId: string | null
  /** A date (`2025-01-31` or `2025-01`). */
  readonly knowledgeCutoff: string | null
  readonly hasOpenWeights: boolean
}

/** Benchmark scores; absent: unknown. */
export interface ModelScores {
  readonly intelligenceIndex?: number
  readonly codingIndex?: number
  readonly agenticIndex?: number
  readonly designArenaElo?: number
  /** From 0 to 1. */
  readonly toolSuccessRate?: number
}

/** How a request turns on a model's reasoning. */
export interface ReasoningFacts {
  /** The reasoning efforts that it accepts; null: none, or unknown. */
  readonly efforts: readonly string[] | null
  /** A budget of tokens can be set. */
  readonly takesBudget: boolean
  /** It can be switched off. */
  readonly mayBeOff: boolean
}
