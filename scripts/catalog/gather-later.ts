/**
 * Gathers models and prices that are newer than models.dev.json of the facts folder: `bun scripts/catalog/gather-later.ts <facts folder>
 * <package folder>`. The package is @earendil-works/pi-ai, unpacked (`npm pack`); SOURCES.md names its version. Writes
 * later-models.jsonl, one model a line in the shape of models.dev, with new and different fields only.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../src/core/events.ts'
import { isObject } from '../../src/core/json.ts'
import { cloudVendors, factsOf, vendors } from '../../src/providers/compatible.ts'
import { type Document, joined, type Line, modelsOf } from './later.ts'

/** When the package's facts were gathered. */
const LOOKED_AT = '2026-11-10'
/** Its names of providers → those of models.dev. Other names are the same, or of providers that we do not have. */
const NAMES: Readonly<Record<string, string>> = {
  together: 'togetherai',
  fireworks: 'fireworks-ai',
  'vercel-ai-gateway': 'vercel',
}
/** Providers for which it has no prices, or plans instead of prices. */
const LEFT_OUT =
  /^(?:nvidia|github-copilot|openai-codex|kimi-coding|radius|typesafe|.*-token-plan.*|.*-cn|opencode-go)$/
/** Labs, which set their own prices: a later price replaces an earlier one. */
const LABS = new Set([
  'openai',
  'anthropic',
  'google',
  'xai',
  'mistral',
  'deepseek',
  'zai',
  'moonshotai',
  'minimax',
])
/** The providers of the catalogue, by the names of models.dev. */
const OURS = new Set([...vendors.map(factsOf), ...cloudVendors.map(({ facts }) => facts)])
/** Further rows of a reseller for one model, as `:batch` is, and names that follow another one. */
const VARIANT = /^~|^in\.|:\d+k$|[:-]batch$|-(?:spot|ultrafast)$/
/** It ends OpenAI's contexts where the price doubles. */
const CUT_CONTEXT = 272_000

async function gather(folder: string, packageFolder: string): Promise<void> {
  const known: Document = await Bun.file(join(folder, 'models.dev.json')).json()
  const lines: Line[] = []
  const add = (all: readonly Line[]): void => {
    for (const line of all) {
      const before = modelsOf(joined(known, lines), line.provider)?.[line.id]
      const changed = Object.fromEntries(
        Object.entries(line.facts).filter(([name, value]) => !Bun.deepEquals(before?.[name], value)),
      )
      if (Object.keys(changed).length > 0) lines.push({ ...line, facts: before ? changed : line.facts })
    }
  }
  add(ofModelsDev(await Bun.file(join(folder, 'ruby_llm.models.facts.json')).json(), known))
  const data = join(packageFolder, 'dist/providers/data')
  for (const file of readdirSync(data).toSorted()) {
    const provider = file.replace('.json', '')
    if (LEFT_OUT.test(provider) || !OURS.has(NAMES[provider] ?? provider)) continue
    add(ofPackage(NAMES[provider] ?? provider, await Bun.file(join(data, file)).json(), joined(known, lines)))
  }
  const text = lines.map((line) => JSON.stringify(line)).join('\n')
  await Bun.write(join(import.meta.dir, 'later-models.jsonl'), `${text}\n`)
  console.log(`${lines.length} models that are new or differ`)
}

/** Rows of models.dev at a later date, from the list of another program. */
function ofModelsDev(rows: unknown, known: Document): Line[] {
  return (Array.isArray(rows) ? rows.filter(isObject) : []).flatMap((row): Line[] => {
    const metadata = isObject(row['metadata']) ? row['metadata'] : {}
    const {
      source,
      provider_id: provider,
      cost,
      limit,
      reasoning_options,
      open_weights,
      temperature,
    } = metadata
    const { id, name, modalities, capabilities, knowledge_cutoff: knowledge, created_at: created } = row
    // Its names of models at Vertex lack the version with which they are called.
    if (
      source !== 'models.dev' ||
      provider === 'google-vertex' ||
      typeof provider !== 'string' ||
      typeof id !== 'string'
    )
      return []
    if (!isObject(cost) || !OURS.has(provider) || known[provider] === undefined || VARIANT.test(id)) return []
    if (modelsOf(known, provider)?.[id] !== undefined) return [{ provider, id, facts: { cost } }]
    const can = (what: string): boolean => Array.isArray(capabilities) && capabilities.includes(what)
    const facts = {
      name,
      ...(typeof created === 'string' ? { release_date: created.slice(0, 10) } : {}),
      last_updated: metadata['last_updated'],
      ...(typeof knowledge === 'string' ? { knowledge } : {}),
      attachment: metadata['attachment'] === true,
      reasoning: can('reasoning'),
      ...(reasoning_options === undefined ? {} : { reasoning_options }),
      ...(typeof temperature === 'boolean' ? { temperature } : {}),
      tool_call: can('function_calling'),
      ...(can('structured_output') ? { structured_output: true } : {}),
      open_weights: open_weights === true,
      modalities,
      limit,
      cost,
    }
    return [{ provider, id, facts }]
  })
}

function ofPackage(provider: string, apis: unknown, known: Document): Line[] {
  if (known[provider] === undefined || !isObject(apis)) return []
  return Object.values(apis)
    .filter(isObject)
    .flatMap((models) => Object.values(models).filter(isObject))
    .flatMap((model): Line[] => {
      const { id, type } = model
      if (typeof id !== 'string' || type !== 'chat' || VARIANT.test(id)) return []
      const cost = costOf(model['cost'])
      if (cost === undefined) return []
      if (modelsOf(known, provider)?.[id] === undefined)
        return [{ provider, id, facts: factsFor(provider, id, model, cost, known) }]
      return LABS.has(provider) ? priceOf(provider, id, cost, known) : []
    })
}

/** Only if a price that is charged differs: the package has 0 for a price that is not known. */
function priceOf(provider: string, id: string, cost: JsonObject, known: Document): Line[] {
  const before = modelsOf(known, provider)?.[id]?.['cost']
  const listed = Object.keys(cost).filter((name) => name !== 'tiers')
  const isSame = isObject(before) && listed.every((name) => before[name] === cost[name])
  return isSame || cost['input'] === 0 ? [] : [{ provider, id, facts: { cost } }]
}

function costOf(cost: unknown): JsonObject | undefined {
  if (!isObject(cost) || typeof cost['input'] !== 'number') return undefined
  const { input, output, cacheRead, cacheWrite, tiers } = cost
  const written = {
    input,
    output,
    ...(cacheRead ? { cache_read: cacheRead } : {}),
    ...(cacheWrite ? { cache_write: cacheWrite } : {}),
  }
  if (!Array.isArray(tiers) || tiers.length === 0) return written
  const listed = tiers.filter(isObject).map(({ inputTokensAbove: size, ...tier }) => ({
    tier: { type: 'context', size },
    ...costOf(tier),
  }))
  return { ...written, tiers: listed }
}

/** Fields that the package lacks are copied from the model of this provider with the most similar name. */
function factsFor(
  provider: string,
  id: string,
  model: JsonObject,
  cost: JsonObject,
  known: Document,
): JsonObject {
  const { name, reasoning, input, contextWindow: context, maxTokens: output } = model
  const alike = mostAlike(id, modelsOf(known, provider) ?? {})
  const compat = isObject(model['compat']) ? model['compat'] : {}
  const isOpenai = /^(?:gpt|o\d|chat-latest|codex)/.test(id)
  const takesTemperature =
    compat['supportsTemperature'] !== false &&
    !(isOpenai && reasoning === true) &&
    alike?.['temperature'] !== false
  const modalities = isObject(alike?.['modalities']) ? alike['modalities'] : {}
  const takesPdf = Array.isArray(modalities['input']) && modalities['input'].includes('pdf')
  const inputs = Array.isArray(input)
    ? [...input, ...(takesPdf && input.includes('image') ? ['pdf'] : [])]
    : ['text']
  return {
    name,
    // The package tells no dates: this is the day on which the model was there.
    release_date: LOOKED_AT,
    last_updated: LOOKED_AT,
    attachment: inputs.length > 1,
    reasoning: reasoning === true,
    ...reasoningOptions(model, isOpenai),
    temperature: takesTemperature,
    tool_call: true,
    ...(alike?.['structured_output'] === true ? { structured_output: true } : {}),
    open_weights: alike?.['open_weights'] === true,
    modalities: { input: inputs, output: ['text'] },
    limit: { ...(context === CUT_CONTEXT ? {} : { context }), output },
    cost,
  }
}

/** Levels that are not named are there from `low` to `high`; null: not there. */
function reasoningOptions({ thinkingLevelMap: map }: JsonObject, isOpenai: boolean): JsonObject {
  if (!isObject(map)) return {}
  const usual = ['low', 'medium', 'high'].filter((level) => map[level] === undefined)
  const named = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'].map((level) => map[level])
  const values = [...usual, ...named].filter((value): value is string => typeof value === 'string')
  const order = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
  const sorted = order.filter((level) => values.includes(level))
  const options: JsonObject[] = sorted.length > 0 ? [{ type: 'effort', values: sorted }] : []
  if (!isOpenai && map['off'] === undefined) options.push({ type: 'toggle' })
  return options.length > 0 ? { reasoning_options: options } : {}
}

const LEAST_ALIKE = 5

function mostAlike(id: string, models: Readonly<Record<string, JsonObject>>): JsonObject | undefined {
  let best = LEAST_ALIKE - 1
  let found: JsonObject | undefined
  for (const [other, facts] of Object.entries(models)) {
    let same = 0
    while (same < id.length && id[same] === other[same]) same += 1
    if (same <= best) continue
    best = same
    found = facts
  }
  return found
}

const [, , folder, packageFolder] = process.argv
if (folder === undefined || packageFolder === undefined)
  throw new Error('usage: bun scripts/catalog/gather-later.ts <facts folder> <package folder>')
await gather(folder, packageFolder)
