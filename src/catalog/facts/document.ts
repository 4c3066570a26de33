import { isObject } from '../../core/json.ts'

/** One model at one provider, as models.dev lists it. Only fields of the expected type are kept. */
export interface FactModel {
  readonly id: string
  readonly name: string
  readonly baseModel: string | null
  readonly releaseDate: string | null
  /** When this metadata was last checked (`2026-06-30`). */
  readonly updated: string | null
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
  /** The adapter and address of a model that differs from its provider's. */
  readonly override: {
    readonly npm: string | null
    readonly api: string | null
    readonly shape: string | null
  } | null
}

export type FactProviders = ReadonlyMap<string, readonly FactModel[]>

/**
 * Reads a document of the models.dev shape: `{provider: {models: {id: {…}}}}`. Missing
 * fields of a provider or a model are null; `documentProblems` checks whether the document is complete.
 */
export function readDocument(document: unknown): FactProviders {
  const providers = new Map<string, FactModel[]>()
  for (const [slug, provider] of Object.entries(isObject(document) ? document : {})) {
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

export const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

function readModel(id: string, raw: Record<string, unknown>): FactModel {
  const modalities = isObject(raw['modalities']) ? raw['modalities'] : {}
  const limit = isObject(raw['limit']) ? raw['limit'] : {}
  const options = Array.isArray(raw['reasoning_options']) ? raw['reasoning_options'].filter(isObject) : []
  const override = isObject(raw['provider']) ? raw['provider'] : null
  return {
    id,
    name: textOf(lineOf(raw['name'])) ?? id,
    baseModel: textOf(raw['base_model']),
    releaseDate: dateOf(raw['release_date']),
    updated: dateOf(raw['last_updated']),
    knowledge: dateOf(raw['knowledge']),
    reasoning: raw['reasoning'] === true,
    efforts: textsOf(options.find((option) => option['type'] === 'effort')?.['values']),
    takesReasoningBudget: options.some((option) => option['type'] === 'budget_tokens'),
    mayStopReasoning: options.some(
      (option) => option['type'] === 'toggle' || (option['type'] === 'budget_tokens' && option['min'] === 0),
    ),
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

export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null
export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
/** Tabs and line breaks at the ends of names are dirt. */
const lineOf = (value: unknown): string | null =>
  typeof value === 'string' ? value.replace(/[\p{Cc}\s]+/gu, ' ').trim() : null
/** A day that there is not (`2025-25-11`) is not known. */
export const dateOf = (value: unknown): string | null => {
  const date = textOf(value)
  return date !== null && /^\d{4}(-\d{2}){0,2}$/.test(date) && !Number.isNaN(Date.parse(date)) ? date : null
}
/** 0 means unknown in the metadata. */
const countOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : null
