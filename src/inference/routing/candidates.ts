import type { Attempt } from '../../core/attempt.ts'

/** An attempt on its way to a place in the order. Attempts at one endpoint have the same figures, and keep their order. */
export interface Candidate {
  readonly attempt: Attempt
  readonly price: number
  /** See `tierOf`: the smallest is first. */
  tier: number
  /** In the distribution by price, within the tier: the smallest is first. */
  draw: number
  /** By the sort, within the tier: 0 before 1, and so on. */
  level: number
  /** By the sort, within the level: the smallest is first. */
  value: number
}

/**
 * Efraimidis and Spirakis: ascending order by -log(u)/w is a weighted draw without replacement. An endpoint at twice the
 * price has a quarter of the weight. One draw per endpoint, so that several credentials do not increase its share.
 */
export function drawn(attempts: readonly Attempt[], drawOf: (endpointId: string) => number): Candidate[] {
  const candidates: Candidate[] = []
  let cheapest = Number.POSITIVE_INFINITY
  let id = ''
  let price = 0
  let draw = 0
  for (const attempt of attempts) {
    if (attempt.endpoint.id !== id) {
      id = attempt.endpoint.id
      price = priceOf(attempt)
      draw = -Math.log(drawOf(id))
      if (price < cheapest) cheapest = price
    }
    candidates.push({ attempt, price, tier: 0, draw, level: 0, value: 0 })
  }
  for (const candidate of candidates) {
    if (candidate.price === cheapest) continue
    candidate.draw *= cheapest === 0 ? 1e6 : (candidate.price / cheapest) ** 2
  }
  return candidates
}

/**
 * Atto-dollars for three prompt tokens and a completion token. A number: the order needs no exact sum, and arithmetic on
 * bigints takes ten times as long.
 */
function priceOf({ endpoint: { pricing } }: Attempt): number {
  if (!pricing) return 0
  const { prompt, completion, request, image, audioSecond, inputCharacter } = pricing
  let price = 3 * Number(prompt) + Number(completion)
  if (request !== 0n) price += Number(request) / 1_000
  if (image !== undefined) price += Number(image) / 1_000
  if (audioSecond !== undefined) price += Number(audioSecond) / 100
  if (inputCharacter !== undefined) price += Number(inputCharacter)
  return price
}

const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1)
export const byDraw = (a: Candidate, b: Candidate): number => a.tier - b.tier || compare(a.draw, b.draw)
export const byValue = (a: Candidate, b: Candidate): number =>
  a.tier - b.tier || a.level - b.level || compare(a.value, b.value)

/** The attempts at the endpoint of `first` in its tier, then the others. */
export function withFirst(candidates: readonly Candidate[], first: Candidate): Candidate[] {
  const isFirst = ({ attempt, tier }: Candidate): boolean =>
    tier === first.tier && attempt.endpoint.id === first.attempt.endpoint.id
  return [...candidates.filter(isFirst), ...candidates.filter((candidate) => !isFirst(candidate))]
}
