import { isObject } from '../../src/core/json.ts'

/** One model at one provider, as models.dev tells it. Only fields of the expected type are kept. */
export interface FactModel {
  readonly id: string
  readonly name: string
  readonly baseModel: string | null
  readonly releaseDate: string | null
  readonly knowledge: string | null
  readonly reasoning: boolean
  readonly efforts: readonly string[]
  readonly takesReasoningBudget: boolean
  readonly mayStopReasoning: boolean
  readonly takesTemperature: boolean
  readonly callsTools: boolean
  readonly structuredOutput: boolean | null
  readonly openWeights: boolean
  readonly input: readonly string[]
  readonly output: readonly string[]
  readonly context: number | null
  readonly maxOutput: number | null
  readonly cost: Readonly<Record<string, unknown>> | null
  readonly deprecated: boolean
  /** The adapter and address that this model alone needs at its provider. */
  readonly override: {
    readonly npm: string | null
    readonly api: string | null
    readonly shape: string | null
  } | null
}

export type FactProviders = ReadonlyMap<string, readonly FactModel[]>

/** Reads a file of the models.dev shape: `{provider: {models: {id: {…}}}}`. */
export async function readFacts(path: string): Promise<FactProviders> {
  const file: unknown = await Bun.file(path).json()
  if (!isObject(file)) throw new Error(`${path} is not of the models.dev shape`)
  const providers = new Map<string, FactModel[]>()
  for (const [slug, provider] of Object.entries(file)) {
    if (!isObject(provider) || !isObject(provider['models'])) continue
    const models = Object.entries(provider['models']).flatMap(([id, raw]) =>
      isObject(raw) ? [readModel(id, raw)] : [],
    )
    providers.set(
      slug,
      models.sort((left, right) => compare(left.id, right.id)),
    )
  }
  return providers
}

/** One model of OpenRouter's own list: the ids, dated slugs and parameter names that clients of this API know. */
export interface ListedModel {
  readonly id: string
  readonly canonicalSlug: string
  readonly name: string
  readonly huggingFaceId: string | null
  readonly tokenizer: string | null
  readonly instructType: string | null
  readonly parameters: readonly string[]
}

export async function readListed(path: string): Promise<ListedModel[]> {
  const file: unknown = await Bun.file(path).json()
  const rows = isObject(file) && Array.isArray(file['data']) ? file['data'] : []
  return rows
    .flatMap((row) => {
      const id = isObject(row) ? textOf(row['id']) : null
      if (!isObject(row) || id === null || id.startsWith('~')) return []
      const architecture = isObject(row['architecture']) ? row['architecture'] : {}
      return [
        {
          id,
          canonicalSlug: textOf(row['canonical_slug']) ?? id,
          name: textOf(row['name']) ?? id,
          huggingFaceId: textOf(row['hugging_face_id']),
          tokenizer: textOf(architecture['tokenizer']),
          instructType: textOf(architecture['instruct_type']),
          parameters: textsOf(row['supported_parameters']),
        },
      ]
    })
    .sort((left, right) => compare(left.id, right.id))
}

export const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

function readModel(id: string, raw: Record<string, unknown>): FactModel {
  const modalities = isObject(raw['modalities']) ? raw['modalities'] : {}
  const limit = isObject(raw['limit']) ? raw['limit'] : {}
  const options = Array.isArray(raw['reasoning_options']) ? raw['reasoning_options'].filter(isObject) : []
  const override = isObject(raw['provider']) ? raw['provider'] : null
  return {
    id,
    name: textOf(raw['name']) ?? id,
    baseModel: textOf(raw['base_model']),
    releaseDate: textOf(raw['release_date']),
    knowledge: textOf(raw['knowledge']),
    reasoning: raw['reasoning'] === true,
    efforts: textsOf(options.find((option) => option['type'] === 'effort')?.['values']),
    takesReasoningBudget: options.some((option) => option['type'] === 'budget_tokens'),
    mayStopReasoning: options.some((option) => option['type'] === 'toggle'),
    takesTemperature: raw['temperature'] !== false,
    callsTools: raw['tool_call'] === true,
    structuredOutput: typeof raw['structured_output'] === 'boolean' ? raw['structured_output'] : null,
    openWeights: raw['open_weights'] === true,
    input: textsOf(modalities['input']),
    output: textsOf(modalities['output']),
    context: countOf(limit['context']),
    maxOutput: countOf(limit['output']),
    cost: isObject(raw['cost']) ? raw['cost'] : null,
    deprecated: raw['status'] === 'deprecated',
    override:
      override === null
        ? null
        : { npm: textOf(override['npm']), api: textOf(override['api']), shape: textOf(override['shape']) },
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
/** 0 stands for "not known" in the facts. */
const countOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : null
