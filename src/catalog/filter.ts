import { badRequest } from '../core/errors.ts'
import type { Price } from '../core/money.ts'
import { narrowed, type Offered, type OfferedEndpoint } from './listing.ts'
import type { ModelsQuery } from './query/schema.ts'

type EndpointTest = (endpoint: OfferedEndpoint) => boolean
type ModelTest = (offered: Offered) => boolean

const ATTO_PER_USD_IN_MILLIONS = 1_000_000_000_000
const MS_PER_DAY = 86_400_000

/**
 * The models that pass, in the order of `listing`, each as it looks through the endpoints that pass: one endpoint must
 * have all of providers, zdr, region, distillable, supported_parameters and context; the rest is asked of the model as
 * that shows it, prices of its cheapest endpoint. Unknown is not yes. Throws a 400 if a minimum is above its maximum.
 */
export function filtered(listing: readonly Offered[], query: ModelsQuery, now: number): readonly Offered[] {
  refuseEmptyBounds(query)
  const endpointTests = endpointTestsOf(query)
  const modelTests = modelTestsOf(query, now)
  const passed: Offered[] = []
  for (const offered of listing) {
    const seen =
      endpointTests.length === 0
        ? offered
        : narrowed(offered, (endpoint) => endpointTests.every((passes) => passes(endpoint)))
    if (seen !== null && modelTests.every((passes) => passes(seen))) passed.push(seen)
  }
  return passed
}

/** True if it outputs any of `output_modalities`; default: text. */
export function outputTest(list = 'text'): ModelTest {
  const wanted = wordsOf(list)
  if (wanted.has('all')) return () => true
  return ({ outputModalities }) => outputModalities.some((name) => wanted.has(name))
}

function endpointTestsOf(query: ModelsQuery): EndpointTest[] {
  const tests: EndpointTest[] = []
  const providers = wordsOf(query.providers)
  if (providers.size > 0) {
    tests.push(({ provider }) => providers.has(provider.slug) || providers.has(provider.name.toLowerCase()))
  }
  if (query.zdr !== undefined) tests.push(isZdr)
  const { region } = query
  if (region !== undefined) tests.push(({ record }) => record.regions?.includes(region) ?? false)
  if (query.distillable !== undefined) {
    const isDistillable = query.distillable === 'true'
    tests.push(({ record }) => record.isDistillable === isDistillable)
  }
  const parameters = [...wordsOf(query.supported_parameters)]
  if (parameters.length > 0) {
    tests.push(({ record }) => parameters.every((name) => record.supportedParameters?.includes(name)))
  }
  const context = numberOf(query.context)
  if (context !== null) tests.push(({ record }) => (record.contextLength ?? 0) >= context)
  return tests
}

export const isZdr: EndpointTest = ({ record }) => record.isZdr

function modelTestsOf(query: ModelsQuery, now: number): ModelTest[] {
  const tests: ModelTest[] = [outputTest(query.output_modalities)]
  const inputs = wordsOf(query.input_modalities)
  if (inputs.size > 0) tests.push(({ inputModalities }) => inputModalities.some((name) => inputs.has(name)))
  const authors = wordsOf(query.model_authors)
  if (authors.size > 0) tests.push(({ author }) => authors.has(author.toLowerCase()))
  const phrases = [...new Set((query.q ?? '').toLowerCase().split(/\s+/))].filter((word) => word !== '')
  if (phrases.length > 0) {
    tests.push(({ model }) => {
      const searched = `${model.id}\n${model.canonicalSlug}\n${model.name}`.toLowerCase()
      return phrases.every((phrase) => searched.includes(phrase))
    })
  }
  const arch = query.arch?.trim().toLowerCase() ?? ''
  if (arch !== '') tests.push((offered) => isOfFamily(offered, arch))
  const { category } = query
  if (category !== undefined) tests.push(({ model }) => model.categories?.includes(category) ?? false)
  return [...tests, ...priceTests(query), ...ageTests(query, now), ...scoreTests(query)]
}

/** Of a family: its tokenizer, its instruction format, or the first words of its slug (`llama`, `llama-3.3`). */
function isOfFamily({ model }: Offered, arch: string): boolean {
  const { facts } = model
  if (facts?.tokenizer.toLowerCase() === arch || facts?.instructType?.toLowerCase() === arch) return true
  const slug = model.id.slice(model.id.indexOf('/') + 1).toLowerCase()
  return slug.startsWith(arch) && !/^[a-z]/.test(slug.slice(arch.length))
}

function priceTests(query: ModelsQuery): ModelTest[] {
  const tests: ModelTest[] = []
  const add = (side: 'prompt' | 'completion', bound: string | undefined, sign: 1 | -1): void => {
    const limit = numberOf(bound)
    if (limit === null) return
    tests.push(({ top }) => {
      const price = top.record.pricing?.[side]
      return price !== undefined && sign * (usdPerMillion(price) - limit) >= 0
    })
  }
  add('prompt', query.min_price, 1)
  add('prompt', query.max_price, -1)
  add('completion', query.min_output_price, 1)
  add('completion', query.max_output_price, -1)
  return tests
}

/** The nearest number to the exact price, as a caller's decimal is: equal ones compare as equal. */
const usdPerMillion = (price: Price): number => Number(price) / ATTO_PER_USD_IN_MILLIONS

function ageTests(query: ModelsQuery, now: number): ModelTest[] {
  const tests: ModelTest[] = []
  const ageDays = ({ model }: Offered): number => (now - model.created * 1000) / MS_PER_DAY
  const least = numberOf(query.min_age_days)
  const most = numberOf(query.max_age_days)
  if (least !== null) tests.push((offered) => offered.model.created > 0 && ageDays(offered) >= least)
  if (most !== null) tests.push((offered) => offered.model.created > 0 && ageDays(offered) <= most)
  return tests
}

const BOUNDED = [
  'price',
  'output_price',
  'age_days',
  'intelligence_index',
  'coding_index',
  'agentic_index',
  'tool_success_rate',
] as const
function refuseEmptyBounds(query: ModelsQuery): void {
  for (const name of BOUNDED) {
    const least = numberOf(query[`min_${name}`])
    const most = numberOf(query[`max_${name}`])
    if (least !== null && most !== null && least > most) {
      throw badRequest(`must not be above max_${name}`, `query parameter min_${name}`)
    }
  }
}

const SCORED = [
  ['intelligence_index', 'intelligenceIndex'],
  ['coding_index', 'codingIndex'],
  ['agentic_index', 'agenticIndex'],
  ['tool_success_rate', 'toolSuccessRate'],
] as const

/** A bound on a score keeps those whose score is known. */
function scoreTests(query: ModelsQuery): ModelTest[] {
  return SCORED.flatMap(([name, key]) => {
    const least = numberOf(query[`min_${name}`])
    const most = numberOf(query[`max_${name}`])
    if (least === null && most === null) return []
    return [
      ({ model }: Offered): boolean => {
        const score = model.scores?.[key]
        return score !== undefined && score >= (least ?? 0) && score <= (most ?? Number.POSITIVE_INFINITY)
      },
    ]
  })
}

/** A number of a query, whose pattern was checked: null if it is absent or `null`. */
export const numberOf = (written: string | undefined): number | null =>
  written === undefined || written === 'null' ? null : Number(written)

/** The words of a comma-separated list, in lower case. */
const wordsOf = (list = ''): Set<string> =>
  new Set(
    list
      .split(',')
      .map((word) => word.trim().toLowerCase())
      .filter((word) => word !== ''),
  )
