import type { EndpointMeasurements } from '../../core/measurements.ts'
import type { EndpointRecord, ModelRecord, ModelScores, Snapshot } from '../../core/snapshot.ts'

/** A model that a router may choose. */
export interface Choosable {
  readonly id: string
  readonly scores: ModelScores
  /** USD per million tokens of its cheapest endpoint: of the prompt, and three of the prompt for each of the completion. */
  readonly promptPrice: number
  readonly price: number
  /** From 0, the cheapest, to 1. */
  readonly priceRank: number
  /** The median of its fastest endpoint, in milliseconds; null: not measured. */
  readonly latencyMs: number | null
}

interface Reach {
  readonly snapshot: Snapshot
  readonly workspaceId: string
  measured(endpointId: string): EndpointMeasurements | null
}

/** The models that write text and have a price, cheapest first. */
export function choosable({ snapshot, workspaceId, measured }: Reach): Choosable[] {
  const { models } = snapshot.byokKeys?.has(workspaceId) ? (snapshot.withByok ?? snapshot) : snapshot
  const found = models.list().flatMap((model) => {
    const endpoints = model.endpoints.filter(writesText)
    const priced = endpoints.flatMap(({ pricing }) => (pricing ? [pricing] : []))
    if (priced.length === 0 || isDemo(model, snapshot)) return []
    const latencies = endpoints.flatMap(({ id }) => measured(id)?.latencyMs?.p50 ?? [])
    const lowest = (of: (pricing: (typeof priced)[number]) => number): number =>
      Math.min(...priced.map(of)) / ATTO_USD_PER_MILLION
    return [
      {
        id: model.id,
        scores: model.scores ?? {},
        promptPrice: lowest(({ prompt }) => Number(prompt)),
        price: lowest(({ prompt, completion }) => (3 * Number(prompt) + Number(completion)) / 4),
        latencyMs: latencies.length === 0 ? null : Math.min(...latencies),
      },
    ]
  })
  found.sort((a, b) => a.price - b.price || (a.id < b.id ? -1 : 1))
  const last = Math.max(1, found.length - 1)
  return found.map((model, place) => ({ ...model, priceRank: place / last }))
}

/** Prices are atto-dollars per token. */
const ATTO_USD_PER_MILLION = 1e12

const writesText = ({ outputModalities }: EndpointRecord): boolean =>
  outputModalities.length === 0 || outputModalities.includes('text')

const isDemo = ({ endpoints }: ModelRecord, { providersBySlug }: Snapshot): boolean =>
  endpoints.every(({ providerSlug }) => providersBySlug.get(providerSlug)?.kind === 'demo')

/** A pattern at its asterisks, each of which stands for any text; `length` is that of the rest. */
export interface Pattern {
  readonly pieces: readonly string[]
  readonly length: number
}

export function patternOf(text: string): Pattern {
  const [first = '', ...rest] = text.split('*')
  const last = rest.pop()
  const pieces = last === undefined ? [first] : [first, ...rest.filter((piece) => piece !== ''), last]
  return { pieces, length: pieces.reduce((sum, piece) => sum + piece.length, 0) }
}

/** True for a name that one of the patterns matches. At most one step for each character of the name and pattern. */
export const matchesAny = (name: string, patterns: readonly Pattern[]): boolean =>
  patterns.some((pattern) => matches(name, pattern))

function matches(name: string, { pieces, length }: Pattern): boolean {
  if (length > name.length) return false
  const [first = '', ...rest] = pieces
  const last = rest.pop()
  if (last === undefined) return name === first
  if (!name.startsWith(first)) return false
  let at = first.length
  for (const piece of rest) {
    const found = name.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}
