/** The tier that served a request, as the types of OpenAI's and Anthropic's packages know it: typed clients refuse other words. */

const OPENAI: ReadonlySet<unknown> = new Set(['auto', 'default', 'fast', 'flex', 'priority', 'scale'])
const ANTHROPIC: ReadonlySet<unknown> = new Set(['standard', 'priority', 'batch'])
/** Groq, Google and Anthropic (2026). */
const USUAL: ReadonlySet<unknown> = new Set(['default', 'standard', 'on_demand'])

export const openaiTier = (tier: unknown): unknown =>
  OPENAI.has(tier) ? tier : USUAL.has(tier) ? 'default' : null

export const anthropicTier = (tier: unknown): unknown =>
  ANTHROPIC.has(tier) ? tier : USUAL.has(tier) ? 'standard' : null
