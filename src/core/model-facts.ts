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

/** Sampling parameters by their names in the API (`temperature`, `top_p`, …). */
export type DefaultParameters = Readonly<Record<string, number>>

/** What lists show of a model, and routing ignores. Absent: unknown. */
export interface ModelDetails {
  /** The date on which it is withdrawn (`2027-01-31`). */
  readonly expirationDate?: string
  /** What its author recommends. The gateway sets none of them. */
  readonly defaultParameters?: DefaultParameters
  readonly supportedVoices?: readonly string[]
  readonly scores?: ModelScores
  readonly categories?: readonly string[]
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
