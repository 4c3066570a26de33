/** What a model's name says of its generation: they take reasoning, signatures and JSON differently. */
export interface Generation {
  /** Gemini 3 and later (and what no name tells): levels of thinking, and signatures that are demanded. */
  readonly isNew: boolean
  /** Gemini 3 and later for certain. */
  readonly isGemini3: boolean
  readonly isPro: boolean
  readonly isLite: boolean
  /** The name is one of Google's own. */
  readonly isGemini: boolean
  /** The first Gemini 3 Pro knows the levels low and high alone. */
  readonly hasTwoLevels: boolean
}

export function generationOf(upstreamId: string): Generation {
  const major = /gemini-(\d+)/.exec(upstreamId)?.[1]
  const isLatest = /gemini-(?:flash|pro|flash-lite)-latest/.test(upstreamId)
  return {
    isNew: major === undefined || Number(major) >= 3,
    isGemini3: isLatest || (major !== undefined && Number(major) >= 3),
    isPro: /-pro\b/.test(upstreamId),
    isLite: /-lite\b/.test(upstreamId),
    isGemini: /\bgemini-/.test(upstreamId),
    hasTwoLevels: /gemini-3-pro/.test(upstreamId),
  }
}
