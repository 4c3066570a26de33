import { isObject } from '../../core/json.ts'
import { factsOf, vendors } from '../../providers/compatible.ts'
import { TOKEN_BUCKETS } from './prices.ts'

/** The place (`openai.models["gpt-4o"].cost.input`) and the problem. */
export interface DocumentProblem {
  readonly path: string
  readonly message: string
}

type Json = Record<string, unknown>
/** Null: valid. */
type Check = (value: unknown) => string | null

const MOST_REPORTED = 10
const LONGEST_NAME = 200
/** Tokens; the largest real limit is a hundredth of it. */
const LARGEST_COUNT = 1_000_000_000
/** USD per million tokens; real ones are between a thousandth and a thousand. */
const LEAST_PRICE = 0.000_001
const LARGEST_PRICE = 1_000_000

/**
 * Problems of a document in the models.dev form, at most ten; empty: it may be used. A document is used completely or not
 * at all. Fields that Sluice does not read may have any value.
 */
export function documentProblems(document: unknown): DocumentProblem[] {
  if (!isObject(document)) return [{ path: 'document', message: 'must be an object of providers' }]
  const problems: DocumentProblem[] = []
  for (const [slug, provider] of Object.entries(document)) {
    const place = shown(slug)
    const models = isObject(provider) ? provider['models'] : undefined
    if (!isObject(models)) problems.push({ path: `${place}.models`, message: 'must be an object of models' })
    for (const [id, model] of Object.entries(isObject(models) ? models : {})) {
      const at = `${place}.models[${JSON.stringify(shown(id))}]`
      const report = (path: string, message: string): void => void problems.push({ path: at + path, message })
      if (!isName(id)) report('', `must have an id of 1 to ${LONGEST_NAME} visible characters`)
      else checkModel(id, model, report)
      if (problems.length >= MOST_REPORTED) return problems.slice(0, MOST_REPORTED)
    }
  }
  const isOfUse = vendors.some((vendor) => {
    const provider = document[factsOf(vendor)]
    return isObject(provider) && isObject(provider['models']) && Object.keys(provider['models']).length > 0
  })
  if (problems.length === 0 && !isOfUse)
    return [{ path: 'document', message: 'names no model of a known provider' }]
  return problems.slice(0, MOST_REPORTED)
}

const shown = (name: string): string => (name.length > 80 ? `${name.slice(0, 80)}…` : name)

type Report = (path: string, message: string) => void

function checkModel(id: string, model: unknown, report: Report): void {
  if (!isObject(model)) {
    report('', 'must be an object')
    return
  }
  if (model['id'] !== undefined && model['id'] !== id) report('.id', 'must equal its key')
  check(model, MEMBERS, '', report)
  const { limit, modalities, provider, cost, reasoning_options: options } = model
  for (const [side, value] of Object.entries(isObject(limit) ? limit : {})) {
    const problem = isCount(value)
    if (problem !== null) report(`.limit.${shown(side)}`, problem)
  }
  if (isObject(modalities)) check(modalities, { input: words, output: words }, '.modalities', report)
  if (isObject(provider)) check(provider, { npm: isText, api: isText, shape: isText }, '.provider', report)
  for (const [index, option] of (Array.isArray(options) ? options : []).entries()) {
    const path = `.reasoning_options[${index}]`
    if (isObject(option)) check(option, OPTION, path, report)
    else report(path, 'must be an object')
  }
  if (isObject(cost)) checkCost(cost, report)
}

function checkCost(cost: Json, report: Report): void {
  check(cost, PRICES, '.cost', report)
  const { tiers, context_over_200k: over } = cost
  if (isObject(over)) check(over, PRICES, '.cost.context_over_200k', report)
  else if (over !== undefined && over !== null)
    report('.cost.context_over_200k', 'must be an object of prices')
  if (tiers === undefined || tiers === null) return
  if (!Array.isArray(tiers)) {
    report('.cost.tiers', 'must be a list of tiers')
    return
  }
  for (const [index, tier] of tiers.entries()) {
    const path = `.cost.tiers[${index}]`
    if (!isObject(tier)) {
      report(path, 'must be an object of prices')
      continue
    }
    check(tier, PRICES, path, report)
    const size = isObject(tier['tier']) ? tier['tier']['size'] : undefined
    // Without a tier the price of long prompts would be too low.
    if (isCount(size) !== null || size === 0)
      report(`${path}.tier.size`, 'must be a whole number of at least 1')
  }
}

/** Checks present fields; lists of modalities are required. */
function check(object: Json, checks: Readonly<Record<string, Check>>, path: string, report: Report): void {
  for (const [name, test] of Object.entries(checks)) {
    if (!Object.hasOwn(object, name) && test !== words) continue
    const problem = test(object[name])
    if (problem !== null) report(`${path}.${name}`, problem)
  }
}

const orNull =
  (test: Check): Check =>
  (value) =>
    value === null ? null : test(value)

const isText: Check = orNull((value) => (typeof value === 'string' ? null : 'must be a text'))
const isFlag: Check = orNull((value) => (typeof value === 'boolean' ? null : 'must be true or false'))
const isCount: Check = (value) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= LARGEST_COUNT
    ? null
    : `must be a whole number of at least 0 and at most ${LARGEST_COUNT}`
const isObjectOrNull: Check = orNull((value) => (isObject(value) ? null : 'must be an object'))
const isPrice: Check = (value) =>
  value === 0 || (typeof value === 'number' && value >= LEAST_PRICE && value <= LARGEST_PRICE)
    ? null
    : `must be a number of at least 0: USD per million, 0 or from 0.000001 to ${LARGEST_PRICE}`

/** `2026-06-30`, also without the day or the month. The reader rejects days that do not exist. */
const isDate: Check = orNull((value) =>
  typeof value === 'string' && /^\d{4}(-\d{2}){0,2}$/.test(value)
    ? null
    : 'must be a date such as 2026-06-30',
)

const isName = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= LONGEST_NAME && /^[^\p{Cc}\p{Cs}]+$/u.test(value)
const words: Check = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string' && /^[\w-]{1,40}$/.test(item))
    ? null
    : 'must be a list of names'

const MEMBERS: Readonly<Record<string, Check>> = {
  name: orNull((value) =>
    typeof value === 'string' && value.length <= LONGEST_NAME && value.isWellFormed()
      ? null
      : `must be a text of at most ${LONGEST_NAME} characters`,
  ),
  base_model: isText,
  release_date: isDate,
  last_updated: isDate,
  knowledge: isDate,
  reasoning: isFlag,
  temperature: isFlag,
  tool_call: isFlag,
  structured_output: isFlag,
  open_weights: isFlag,
  status: isText,
  modalities: (value) => (isObject(value) ? null : 'must be an object'),
  limit: (value) => (isObject(value) ? null : 'must be an object'),
  cost: isObjectOrNull,
  provider: isObjectOrNull,
  reasoning_options: orNull((value) => (Array.isArray(value) ? null : 'must be a list of options')),
}

const OPTION: Readonly<Record<string, Check>> = {
  type: isText,
  values: orNull(words),
  min: orNull((value) => (typeof value === 'number' ? null : 'must be a number')),
}

/** Every name that a price is read from. */
const PRICES: Readonly<Record<string, Check>> = Object.fromEntries(
  [...TOKEN_BUCKETS.flatMap(([, names]) => names), 'request'].map((name) => [name, isPrice]),
)
