import { type Static, Type } from '@sinclair/typebox'
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value'
import { defined } from '../core/json.ts'
import type { ConfigProblem } from '../core/problem.ts'
import type { ModelDetails } from '../core/snapshot.ts'
import { readDataFacts } from '../providers/entry-facts.ts'
import { pricing, readPricing } from '../providers/entry-pricing.ts'
import { factFields, tokenCount } from '../providers/entry-schema.ts'
import { readScores } from './benchmarks.ts'
import { CATEGORIES } from './categories.ts'
import type { ModelOverride } from './overrides.ts'

// Each `description` completes the sentence "<place> must be …".
const text = Type.String({
  pattern: '\\S',
  maxLength: 300,
  description: 'a text of 1 to 300 characters, not blank',
})
const flag = Type.Boolean({ description: 'true or false' })
const mapping = { additionalProperties: false, description: 'a mapping' }
const number = (minimum: number, maximum: number) =>
  Type.Optional(Type.Number({ minimum, maximum, description: `a number from ${minimum} to ${maximum}` }))

/** The fields of a model that lists show. */
export const detailFields = {
  expiration_date: Type.Optional(
    Type.String({
      pattern: '^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])$',
      description: 'a date in quotes, such as "2027-01-31"',
    }),
  ),
  default_parameters: Type.Optional(
    Type.Object(
      {
        temperature: number(0, 2),
        top_p: number(0, 1),
        top_k: number(0, 1_000_000),
        frequency_penalty: number(-2, 2),
        presence_penalty: number(-2, 2),
        repetition_penalty: number(0, 2),
      },
      mapping,
    ),
  ),
  supported_voices: Type.Optional(Type.Array(text, { description: 'a list of names' })),
  categories: Type.Optional(
    Type.Array(
      Type.Union(
        CATEGORIES.map((name) => Type.Literal(name)),
        { description: `one of ${CATEGORIES.join(', ')}` },
      ),
      { description: `a list of ${CATEGORIES.join(', ')}` },
    ),
  ),
  benchmarks: Type.Optional(
    Type.Record(Type.String(), Type.Number({ description: 'a number' }), {
      description: 'a mapping of scores',
    }),
  ),
}

const entry = Type.Object(
  {
    id: text,
    provider: Type.Optional(text),
    aliases: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^[^\\s:@]+$',
          maxLength: 200,
          description: 'a name without spaces, ":" and "@"',
        }),
        {
          description: 'a list of names',
        },
      ),
    ),
    hidden: Type.Optional(flag),
    name: Type.Optional(text),
    pricing: Type.Optional(pricing),
    context_length: Type.Optional(tokenCount),
    max_completion_tokens: Type.Optional(tokenCount),
    supported_parameters: Type.Optional(Type.Array(text, { description: 'a list of names' })),
    zdr: Type.Optional(flag),
    ...factFields,
    distillable: Type.Optional(flag),
    ...detailFields,
  },
  mapping,
)
type Entry = Static<typeof entry>

/** Reads the `models:` list of the settings file. Reports every problem with its place. */
export function readOverrides(value: unknown): { overrides: ModelOverride[]; problems: ConfigProblem[] } {
  const problems: ConfigProblem[] = []
  const overrides: ModelOverride[] = []
  if (value === undefined || value === null) return { overrides, problems }
  if (!Array.isArray(value))
    return {
      overrides,
      problems: [{ path: 'models', message: 'must be a list of entries, each with an id' }],
    }
  for (const [index, item] of value.entries()) {
    const place = `models[${index}]`
    if (Value.Check(entry, item)) overrides.push(overrideOf(item, place, problems))
    else problems.push(...problemsOf(item, place))
  }
  return { overrides, problems }
}

function problemsOf(item: unknown, place: string): ConfigProblem[] {
  const problems = new Map<string, ConfigProblem>()
  for (const error of Value.Errors(entry, item)) {
    const path = place + placeOf(error.path)
    if (!problems.has(path)) problems.set(path, { path, message: sentenceOf(error) })
  }
  return [...problems.values()]
}

function sentenceOf(error: ValueError): string {
  if (error.type === ValueErrorType.ObjectRequiredProperty) return 'is missing'
  if (error.type !== ValueErrorType.ObjectAdditionalProperties)
    return `must be ${error.schema.description ?? 'of another form'}`
  return `is not a known key; known here: ${Object.keys(error.schema['properties'] ?? {}).join(', ')}`
}

const placeOf = (pointer: string): string =>
  pointer
    .split('/')
    .slice(1)
    .map((segment) => (/^\d+$/.test(segment) ? `[${segment}]` : `.${segment}`))
    .join('')

function overrideOf(item: Entry, place: string, problems: ConfigProblem[]): ModelOverride {
  const pricing = item.pricing === undefined ? null : readPricing(item.pricing, `${place}.pricing`, problems)
  const { id, provider, aliases, hidden, name } = item
  return {
    place,
    id,
    provider: provider ?? null,
    aliases: aliases ?? [],
    isHidden: hidden ?? false,
    ...(name === undefined ? {} : { name }),
    details: detailsOf(item, place, problems),
    endpoint: {
      ...(pricing === null ? {} : { pricing }),
      ...(item.context_length === undefined ? {} : { contextLength: item.context_length }),
      ...(item.max_completion_tokens === undefined
        ? {}
        : { maxCompletionTokens: item.max_completion_tokens }),
      ...(item.supported_parameters === undefined ? {} : { supportedParameters: item.supported_parameters }),
      ...readDataFacts(item, place, problems),
      ...(item.distillable === undefined ? {} : { isDistillable: item.distillable }),
    },
  }
}

function detailsOf(item: Entry, place: string, problems: ConfigProblem[]): ModelDetails {
  const { benchmarks } = item
  return defined({
    expirationDate: item.expiration_date,
    defaultParameters: item.default_parameters && defined(item.default_parameters),
    supportedVoices: item.supported_voices,
    categories: item.categories,
    scores: benchmarks && readScores(benchmarks, `${place}.benchmarks`, problems),
  })
}
