import { type Static, type TProperties, Type } from '@sinclair/typebox'
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value'
import { SERVICE_TIERS } from '../core/pricing.ts'
import type { ConfigProblem } from '../core/problem.ts'
import { words } from '../core/words.ts'
import { AZURE_SETTINGS } from './azure.ts'
import { AWS_SETTINGS } from './bedrock.ts'
import { price, pricing } from './entry-pricing.ts'
import type { SettingPlaces } from './settings.ts'
import { VERTEX_SETTINGS } from './vertex-settings.ts'

// Each `description` completes the sentence "<place> must be …".
const text = Type.String({ pattern: '\\S', description: 'a text that is not blank' })
const count = Type.Integer({ minimum: 1, description: 'a whole number of at least 1' })
/** A hundred times the largest real limit. */
const MOST_TOKENS = 1_000_000_000
/** A limit of a model. */
export const tokenCount = Type.Integer({
  minimum: 1,
  maximum: MOST_TOKENS,
  description: `a whole number of at least 1 and at most ${MOST_TOKENS}`,
})
const textList = Type.Array(text, { description: 'a list of names' })
/** No request would match a name of another case or spelling. */
const modalities = Type.Array(
  Type.String({ pattern: '^[a-z][a-z_]*$', description: 'a lower-case name, such as text, image or file' }),
  { description: 'a list of names' },
)
const OUTPUTS = words('text image audio video embeddings rerank moderation ocr speech transcription')
const outputs = Type.Array(
  Type.Union(
    OUTPUTS.map((name) => Type.Literal(name)),
    { description: `one of ${OUTPUTS.join(', ')}` },
  ),
  { description: 'a list of names' },
)
const mapping = { additionalProperties: false, description: 'a mapping' }

/** An optional mapping of optional fields. */
const block = <Fields extends TProperties>(fields: Fields) =>
  Type.Optional(Type.Partial(Type.Object(fields), mapping))

/** The settings of a cloud below the key `name` of an entry. */
const settingsBlock = (name: string, settings: Readonly<Record<string, SettingPlaces>>) => {
  const keys = Object.values(settings).map(({ entry }) => entry.split('.'))
  return block(
    Object.fromEntries(keys.flatMap(([first, key]) => (first === name && key ? [[key, text] as const] : []))),
  )
}

const flag = Type.Boolean({ description: 'true or false' })
const ZDR = ['always', 'on_request', 'never'] as const
const REGIONS = ['eu', 'us'] as const
const ACCOUNT_TIERS = [...SERVICE_TIERS, 'any'] as const

/** A hundred years. */
const MOST_DAYS = 36_500

/** What an operator may declare of a provider or of one of its models. */
export const factFields = {
  data_policy: block({
    training: flag,
    retention_days: Type.Integer({
      minimum: 0,
      maximum: MOST_DAYS,
      description: `a whole number of days from 0 to ${MOST_DAYS}`,
    }),
    zdr: Type.Union(
      ZDR.map((name) => Type.Literal(name)),
      { description: `one of ${ZDR.join(', ')}` },
    ),
  }),
  regions: Type.Optional(
    Type.Array(
      Type.Union(
        REGIONS.map((region) => Type.Literal(region)),
        { description: `one of ${REGIONS.join(', ')}` },
      ),
      { description: `a list of ${REGIONS.join(', ')}` },
    ),
  ),
  quantization: Type.Optional(text),
  moderated: Type.Optional(flag),
}

const entryModel = Type.Object(
  {
    id: text,
    name: Type.Optional(text),
    upstream_id: Type.Optional(text),
    context_length: Type.Optional(tokenCount),
    max_completion_tokens: Type.Optional(tokenCount),
    architecture: block({ input_modalities: modalities, output_modalities: outputs }),
    supported_parameters: Type.Optional(textList),
    ...factFields,
    pricing: Type.Optional(pricing),
  },
  mapping,
)

const dialects = ['chat', 'responses', 'messages', 'gemini', 'converse', 'cohere'] as const
const names = dialects.map((name) => Type.Literal(name))

/** The form of one entry. */
export const providerEntry = Type.Object(
  {
    slug: text,
    name: Type.Optional(text),
    dialect: Type.Optional(
      Type.Union([...names, Type.Array(Type.Union(names), { minItems: 1, maxItems: dialects.length })], {
        description: `one of ${dialects.join(', ')}, or a list of them, the main one first`,
      }),
    ),
    base_url: Type.Optional(text),
    aws: settingsBlock('aws', AWS_SETTINGS),
    azure: settingsBlock('azure', AZURE_SETTINGS),
    vertex: settingsBlock('vertex', VERTEX_SETTINGS),
    api_key: Type.Optional(Type.String({ description: 'a text; leave it out for a server without keys' })),
    models: Type.Optional(Type.Array(entryModel, { description: 'a list of models, each with an id' })),
    timeouts: block({ first_byte_ms: count, between_bytes_ms: count, total_ms: count }),
    max_in_flight: Type.Optional(count),
    takes_urls: Type.Optional(flag),
    delegate_tools: Type.Optional(flag),
    account_tier: Type.Optional(
      Type.Union(
        ACCOUNT_TIERS.map((name) => Type.Literal(name)),
        { description: `one of ${ACCOUNT_TIERS.join(', ')}` },
      ),
    ),
    trace_context: Type.Optional(flag),
    ...factFields,
  },
  mapping,
)

export type Entry = Static<typeof providerEntry>
export type EntryModel = Static<typeof entryModel>

/**
 * Checks a `providers:` list and returns its entries with their places in it. An invalid part is replaced or left out, so
 * that the rest of the entry can be checked in the same run.
 */
export function parseEntries(value: unknown, problems: ConfigProblem[]): [index: number, entry: Entry][] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) {
    problems.push({ path: 'providers', message: 'must be a list of entries, each with slug and base_url' })
    return []
  }
  const entries: [number, Entry][] = []
  for (const [index, item] of value.entries()) {
    const repaired: unknown = structuredClone(item)
    const places = new Set<string>()
    for (const error of Value.Errors(providerEntry, item)) {
      if (places.has(error.path)) continue
      places.add(error.path)
      problems.push({ path: placeOf(index, error.path), message: sentenceOf(error) })
      repair(repaired, segmentsOf(error.path), standIn(error, index))
    }
    if (Value.Check(providerEntry, repaired)) entries.push([index, repaired])
  }
  return entries
}

function sentenceOf(error: ValueError): string {
  const expected = error.schema.description ?? 'of another form'
  if (error.type === ValueErrorType.ObjectRequiredProperty) return 'is missing'
  if (error.type !== ValueErrorType.ObjectAdditionalProperties) return `must be ${expected}`
  return `is not a known key; known here: ${Object.keys(error.schema['properties'] ?? {}).join(', ')}`
}

/** `/models/1/pricing/prompt` → `providers[0].models[1].pricing.prompt` */
function placeOf(index: number, pointer: string): string {
  let place = `providers[${index}]`
  for (const segment of segmentsOf(pointer)) place += /^\d+$/.test(segment) ? `[${segment}]` : `.${segment}`
  return place
}

const segmentsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** The replacement of an invalid part: a unique text if it is required; undefined: left out. */
function standIn(error: ValueError, index: number): string | undefined {
  if (error.type === ValueErrorType.ObjectAdditionalProperties) return undefined
  const name = error.path.slice(error.path.lastIndexOf('/') + 1)
  if (name === 'base_url') return 'http://unset.invalid'
  if (name === 'slug' || name === 'id') return `unset-${index}${error.path.replaceAll('/', '-')}`
  return error.schema.description === price.description ? '0' : undefined
}

function repair(root: unknown, segments: readonly string[], replacement: string | undefined): void {
  const last = segments.at(-1)
  let target = root
  for (const segment of segments.slice(0, -1)) target = isRecord(target) ? target[segment] : undefined
  if (last === undefined || !isRecord(target)) return
  if (Array.isArray(target)) target[Number(last)] = replacement ?? last
  else if (replacement === undefined) delete target[last]
  else target[last] = replacement
}
