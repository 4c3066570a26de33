import { isObject } from '../../core/json.ts'
import { factsOf, vendors } from '../../providers/compatible.ts'

/** Where it is (`openai.models["gpt-4o"].cost.input`), and what is wrong. */
export interface DocumentProblem {
  readonly path: string
  readonly message: string
}

const MOST_TOLD = 10
const COUNT = 'must be a whole number of at least 0'
const PRICE = 'must be a number of at least 0'

/**
 * Why a document is not of the models.dev shape, or is not whole: it is taken as it is or not at all. Members that we
 * do not read may be anything. At most ten problems; none means that it may be used.
 */
export function documentProblems(document: unknown): DocumentProblem[] {
  if (!isObject(document)) return [{ path: 'document', message: 'must be an object of providers' }]
  const problems: DocumentProblem[] = []
  for (const [slug, provider] of Object.entries(document)) {
    const models = isObject(provider) ? provider['models'] : undefined
    if (!isObject(models)) problems.push({ path: `${slug}.models`, message: 'must be an object of models' })
    for (const [id, model] of Object.entries(isObject(models) ? models : {})) {
      checkModel(model, `${slug}.models[${JSON.stringify(id)}]`, problems)
      if (problems.length >= MOST_TOLD) return problems
    }
  }
  const isOfUse = vendors.some((vendor) => {
    const provider = document[factsOf(vendor)]
    return isObject(provider) && isObject(provider['models']) && Object.keys(provider['models']).length > 0
  })
  if (problems.length === 0 && !isOfUse)
    return [{ path: 'document', message: 'has no model of any provider that is known here' }]
  return problems
}

function checkModel(model: unknown, path: string, problems: DocumentProblem[]): void {
  if (!isObject(model)) {
    problems.push({ path, message: 'must be an object' })
    return
  }
  const tell = (name: string, message: string): void => void problems.push({ path: path + name, message })
  const { name, modalities, limit, cost } = model
  if (name !== undefined && typeof name !== 'string') tell('.name', 'must be a text')
  if (modalities !== undefined) {
    if (!isObject(modalities)) tell('.modalities', 'must be an object')
    else {
      for (const side of ['input', 'output'])
        if (!isTexts(modalities[side])) tell(`.modalities.${side}`, 'must be a list of names')
    }
  }
  if (limit !== undefined && !isObject(limit)) tell('.limit', 'must be an object')
  for (const [side, value] of Object.entries(isObject(limit) ? limit : {}))
    if (!isCount(value)) tell(`.limit.${side}`, COUNT)
  if (cost === undefined || cost === null) return
  if (!isObject(cost)) tell('.cost', 'must be an object')
  else checkPrices(cost, `${path}.cost`, problems)
}

/** Every number below is a price, but for the size of a tier. */
function checkPrices(prices: Record<string, unknown>, path: string, problems: DocumentProblem[]): void {
  for (const [name, value] of Object.entries(prices)) {
    const place = `${path}.${name}`
    if (Array.isArray(value)) {
      for (const [index, row] of value.entries())
        if (isObject(row)) checkPrices(row, `${place}[${index}]`, problems)
    } else if (isObject(value)) checkPrices(value, place, problems)
    else if (typeof value === 'number' ? !(value >= 0 && Number.isFinite(value)) : isBucket(name))
      problems.push({ path: place, message: PRICE })
  }
}

/** What is not a number there is no price that could be left out. */
const isBucket = (name: string): boolean =>
  ['input', 'output', 'cache_read', 'cache_write', 'reasoning', 'input_audio', 'output_audio'].includes(name)

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')
const isCount = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0
