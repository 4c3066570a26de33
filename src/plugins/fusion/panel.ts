import type { ModelRecord, Snapshot } from '../../core/snapshot.ts'

export const PRESETS: readonly string[] = ['general-high', 'general-budget', 'general-fast']

const MOST_MODELS = 3
/** A cheap model must have this part of the best one's score. */
const GOOD_ENOUGH = 0.5

/**
 * The panel of a preset, from the configured models, of different authors where possible: those with the highest
 * intelligence index (`general-high`, the default), the cheapest good ones (`general-budget`), or the same at their
 * fastest endpoints (`general-fast`).
 */
export function panelOf(
  preset: string | undefined,
  { models, providersBySlug }: Pick<Snapshot, 'models' | 'providersBySlug'>,
): string[] {
  const writing = models.list().filter(({ endpoints }) => endpoints.some(writesText))
  const isReal = ({ endpoints }: ModelRecord): boolean =>
    endpoints.some(({ providerSlug }) => providersBySlug.get(providerSlug)?.kind !== 'demo')
  const real = writing.filter(isReal)
  const able = real.length > 0 ? real : writing
  const best = Math.max(0, ...able.map(scoreOf))
  const isHigh = preset === undefined || preset === 'general-high'
  const order = isHigh
    ? able.toSorted((a, b) => scoreOf(b) - scoreOf(a) || priceOf(a) - priceOf(b))
    : able
        .filter((model) => scoreOf(model) >= best * GOOD_ENOUGH)
        .toSorted((a, b) => priceOf(a) - priceOf(b) || scoreOf(b) - scoreOf(a))
  const authors = new Set<string>()
  const others = order.filter((model) => authors.size < authors.add(authorOf(model)).size)
  const chosen = [...new Set([...others, ...order])].slice(0, MOST_MODELS).map(({ id }) => id)
  return preset === 'general-fast' ? chosen.map((id) => `${id}:nitro`) : chosen
}

const scoreOf = ({ scores }: ModelRecord): number => scores?.intelligenceIndex ?? 0
const authorOf = ({ id }: ModelRecord): string => id.split('/')[0] ?? id

const writesText = ({ outputModalities, pricing }: ModelRecord['endpoints'][number]): boolean =>
  pricing !== null && (outputModalities.length === 0 || outputModalities.includes('text'))

const priceOf = ({ endpoints }: ModelRecord): number =>
  Math.min(
    ...endpoints.map(({ pricing }) =>
      pricing ? 3 * Number(pricing.prompt) + Number(pricing.completion) : Number.MAX_VALUE,
    ),
  )
