import type { Caller } from '../../core/caller.ts'
import { badRequest, notFound } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { asList, isObject } from '../../core/json.ts'
import type { PresetRecord, Snapshot } from '../../core/snapshot.ts'
import { findVariant } from '../../core/variant.ts'
import { type PresetDialect, presetForms } from '../../dialects/presets/index.ts'

const MARK = '@preset/'

export interface PresetBody {
  body: JsonObject
  /** Null if the request names no preset. */
  presetId: string | null
}

/**
 * The body with its preset, and with reasoning where its first model is named with `:thinking` and the body does not set
 * reasoning itself.
 */
export function withPreset(
  sent: JsonObject,
  dialect: PresetDialect,
  caller: Caller,
  snapshot: Snapshot,
): PresetBody {
  const { body, presetId } = merged(sent, dialect, caller, snapshot)
  const name = body['model'] ?? asList(body['models'])[0]
  if (typeof name !== 'string' || !name.endsWith(':thinking')) return { body, presetId }
  const found =
    findVariant(name, snapshot.models) ?? findVariant(name, snapshot.withByok?.models ?? snapshot.models)
  if (found?.variant !== 'thinking') return { body, presetId }
  return { body: merge(body, { reasoning: { enabled: true } }, dialect), presetId }
}

/**
 * Merges the named preset into the body. A request names it by `model: "@preset/<slug>"`, `model:
 * "<model>@preset/<slug>"`, `preset: "<slug>"`, or in Responses by `prompt: {id, variables}`, where `id` is its slug or id.
 * Fields of the request take precedence. Lists of tools are joined; of two tools with one name, the request's is used.
 *
 * Throws a `GatewayError`: 404 for a preset that the workspace does not have or that is not active, 400 if the request
 * names two different presets.
 */
function merged(
  body: JsonObject,
  dialect: PresetDialect,
  { workspace }: Caller,
  snapshot: Snapshot,
): PresetBody {
  const { model, preset: named, prompt } = body
  const isNamed = typeof model === 'string' && model.includes(MARK)
  if (!isNamed && named === undefined && (dialect !== 'responses' || prompt === undefined))
    return { body, presetId: null }
  const [ownModel, marked] = typeof model === 'string' ? splitModel(model) : [undefined, undefined]
  const template = dialect === 'responses' && isObject(prompt) ? prompt : undefined
  const names = [marked, textOf(named, 'preset'), template && textOf(template['id'], 'prompt.id')]
  const slugs = new Set(names.filter((name) => name !== undefined))
  const [slug] = slugs
  if (slug === undefined) return { body, presetId: null }
  if (slugs.size > 1) throw badRequest('The request names two presets: name one', 'preset')
  const preset = findPreset(snapshot.presets.get(workspace.id), slug)
  const { preset: _preset, model: _model, ...own } = body
  const request = ownModel === undefined ? own : { ...own, model: ownModel }
  const combined = merge(request, preset.config, dialect)
  const prompted =
    preset.systemPrompt === null
      ? combined
      : presetForms[dialect].withSystem(combined, filled(preset.systemPrompt, template?.['variables']))
  return { body: prompted, presetId: preset.id }
}

function splitModel(model: string): [model: string | undefined, slug: string | undefined] {
  const at = model.indexOf(MARK)
  if (at === -1) return [model, undefined]
  return [at === 0 ? undefined : model.slice(0, at), model.slice(at + MARK.length)]
}

function textOf(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' && value !== '')
    return value.startsWith(MARK) ? value.slice(MARK.length) : value
  throw badRequest('must be the slug of a preset', path)
}

function findPreset(presets: ReadonlyMap<string, PresetRecord> | undefined, name: string): PresetRecord {
  const preset = presets?.get(name)
  const shown = JSON.stringify(name.slice(0, 100))
  if (preset === undefined) throw notFound(`There is no preset ${shown} in this workspace`)
  if (preset.status === 'active') return preset
  throw notFound(`The preset ${shown} is ${preset.status}`)
}

function merge(request: JsonObject, settings: JsonObject, dialect: PresetDialect): JsonObject {
  const form = presetForms[dialect]
  const config = form.give(settings)
  const isSet = (name: string): boolean => request[name] !== undefined && request[name] !== null
  for (const names of form.synonyms) {
    if (names.some(isSet)) for (const name of names) delete config[name]
  }
  const chosen = Object.fromEntries(
    Object.entries(request).filter(([name]) => isSet(name) || !(name in config)),
  )
  for (const name of form.nested ?? []) {
    const [own, inherited] = [request[name], config[name]]
    if (isObject(own) && isObject(inherited)) chosen[name] = { ...inherited, ...own }
  }
  const tools = joinedTools(request['tools'], config['tools'])
  return { ...config, ...chosen, ...(tools === undefined ? {} : { tools }) }
}

function joinedTools(own: unknown, inherited: unknown): unknown[] | undefined {
  if (!Array.isArray(inherited)) return undefined
  if (!Array.isArray(own)) return inherited
  const taken = new Set(own.flatMap(namesOf))
  return [...own, ...inherited.filter((tool: unknown) => !namesOf(tool).some((name) => taken.has(name)))]
}

/** A Google tool declares several functions. */
function namesOf(tool: unknown): string[] {
  const declared = isObject(tool) ? tool['functionDeclarations'] : undefined
  return Array.isArray(declared) ? declared.map(nameOf) : [nameOf(tool)]
}

/** Identifies functions by name, and tools that the gateway or a provider runs by type. */
function nameOf(tool: unknown): string {
  if (!isObject(tool)) return ''
  const inner = isObject(tool['function']) ? tool['function'] : tool
  const name = typeof inner['name'] === 'string' ? inner['name'] : undefined
  const isFunction = tool['type'] === undefined || tool['type'] === 'function' || tool['type'] === 'custom'
  return isFunction ? `function:${name ?? ''}` : `type:${String(tool['type'])}`
}

/** Replaces `{{name}}` by the variable of this name. Placeholders without a value stay unchanged. */
function filled(prompt: string, variables: unknown): string {
  if (variables === undefined || variables === null) return prompt
  if (!isObject(variables)) throw badRequest('must be an object from names to values', 'prompt.variables')
  return prompt.replace(/\{\{\s*([\w.-]{1,64})\s*\}\}/g, (placeholder, name: string) => {
    if (!Object.hasOwn(variables, name)) return placeholder
    const value = variables[name]
    if (typeof value === 'string') return value
    if (isObject(value) && typeof value['text'] === 'string') return value['text']
    throw badRequest('must be a text, or an input_text', `prompt.variables.${name}`)
  })
}
