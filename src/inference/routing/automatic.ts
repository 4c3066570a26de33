import type { ModelRecord } from '../../core/snapshot.ts'
import { exclusionOf } from './eligible.ts'
import { KINDS } from './kinds.ts'
import type { PlanInput } from './plan-input.ts'
import { AUTOMATIC, type Resolved, resolve } from './resolve.ts'

/** The models of these names, in their order; unknown names are left out. */
export function resolvedModels(names: readonly string[], input: PlanInput): Resolved[] {
  const known: Resolved[] = []
  for (const name of names) {
    const entry = resolve(name, input)
    if (entry) known.push(entry)
    else if (AUTOMATIC.has(name)) {
      const chosen = automaticModels(input)
      known.push(...chosen.filter(({ model }) => known.every((other) => other.model.id !== model.id)))
    }
  }
  return known
}

/** Fail-over needs few models, and each one raises the reservation to the dearest of them. */
const MOST_MODELS = 3

/**
 * The models that `sluice/auto` stands for: in the order of a router, else the workspace's default model first, then by
 * benchmark, price and age; the first three with an endpoint for this request. Without one, the first three, so that the refusal can name reasons.
 */
function automaticModels(input: PlanInput): Resolved[] {
  const { caller, request } = input
  const usual = KINDS[request.apiType].defaultModel?.(caller.workspace)
  const chosen = request.automaticOrder
  const fitting: Resolved[] = []
  const seen: Resolved[] = []
  const add = (entry: Resolved | undefined): void => {
    if (!entry || seen.some(({ model }) => model.id === entry.model.id)) return
    if (seen.length < MOST_MODELS) seen.push(entry)
    if (entry.routes.some((route) => exclusionOf(entry, route, input) === null)) fitting.push(entry)
  }
  if (usual && chosen === undefined) add(resolve(usual, input))
  for (const id of chosen ?? usualOrder(input)) {
    if (fitting.length === MOST_MODELS) break
    add(resolve(id, input))
  }
  return fitting.length > 0 ? fitting : seen
}

function* usualOrder({ caller, snapshot }: PlanInput): Generator<string> {
  const { models } = snapshot.byokKeys?.has(caller.workspace.id) ? (snapshot.withByok ?? snapshot) : snapshot
  const order = (all: readonly ModelRecord[]) => inOrder(all, { snapshot })
  for (const { id } of models.sorted?.(order) ?? order(models.list())) yield id
}

/** Highest intelligence index first, then models of the catalogue, then the lowest price, then the newest. */
function inOrder(models: readonly ModelRecord[], { snapshot }: Pick<PlanInput, 'snapshot'>): ModelRecord[] {
  const isDemo = ({ endpoints }: ModelRecord): boolean =>
    endpoints.every(({ providerSlug }) => snapshot.providersBySlug.get(providerSlug)?.kind === 'demo')
  const keyed = models.flatMap((model) => {
    if (!model.endpoints.some(writesText)) return []
    const { scores, facts, created } = model
    const rank = isDemo(model) ? 3 : scores?.intelligenceIndex !== undefined ? 0 : facts ? 1 : 2
    return [{ model, rank, score: scores?.intelligenceIndex ?? 0, price: lowestPrice(model), created }]
  })
  keyed.sort((a, b) => a.rank - b.rank || b.score - a.score || a.price - b.price || b.created - a.created)
  return keyed.map(({ model }) => model)
}

const writesText = ({ outputModalities }: ModelRecord['endpoints'][number]): boolean =>
  outputModalities.length === 0 || outputModalities.includes('text')

/** Assumes three prompt tokens per completion token. */
const lowestPrice = ({ endpoints }: ModelRecord): number =>
  Math.min(
    ...endpoints.map(({ pricing }) =>
      pricing ? 3 * Number(pricing.prompt) + Number(pricing.completion) : Number.MAX_VALUE,
    ),
  )
