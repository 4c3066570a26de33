import { badRequest } from '../core/errors.ts'
import type { DialectName, JsonObject } from '../core/events.ts'
import { asList, fieldsOf, isObject, isString, objectsIn } from '../core/json.ts'
import { quoted } from './mismatch.ts'
import type { Plugin } from './plugin-schema.ts'

/** The part that the gateway lacks to run a plugin. Plugins without an entry are complete. */
const MISSING: Partial<Record<Plugin['id'], string>> = {
  'switchyard-router': 'the choice of a model by the prompt',
}

interface Asking extends JsonObject {
  plugins?: readonly Plugin[] | null
}

/** Rejects what the caller asks of the gateway and this version lacks: 400 with its name, never silence. */
export function refuseUnbuilt(body: Asking): void {
  const { plugins, transforms, provider } = body
  for (const [slug, options] of Object.entries(providerOptionsOf(provider))) refuseOptions(slug, options)
  for (const [i, plugin] of (plugins ?? []).entries()) refusePlugin(plugin, `plugins[${i}]`)
  for (const [i, transform] of asList(transforms).entries()) {
    if (transform === 'middle-out') continue
    throw badRequest(`must be "middle-out", not ${quoted(String(transform))}`, `transforms[${i}]`)
  }
}

/** `options` of the `provider` of a request, by the slug of a provider. */
export const providerOptionsOf = (provider: unknown): Readonly<Record<string, unknown>> =>
  fieldsOf(fieldsOf(provider)['options'])

/** The only option of a provider in conversations is `delegate_tools`. */
function refuseOptions(slug: string, options: unknown): void {
  const path = `provider.options.${slug.slice(0, 60)}`
  if (options === null) return
  if (!isObject(options)) throw badRequest('must be an object', path)
  for (const [name, value] of Object.entries(options)) {
    if (name !== 'delegate_tools')
      throw badRequest(
        'is not available in conversations: only delegate_tools is',
        `${path}.${name.slice(0, 60)}`,
      )
    if (typeof value !== 'boolean') throw badRequest('must be true or false', `${path}.${name}`)
  }
}

function refusePlugin(plugin: Plugin, path: string): void {
  if (plugin.enabled === false) return
  const missing = MISSING[plugin.id]
  if (missing === undefined) return
  throw badRequest(
    `"${plugin.id}" is not available: this gateway does not have ${missing}. Remove the plugin, or disable it with "enabled": false`,
    `${path}.id`,
  )
}

/** Tools of gateways, and tools that run programs of a model. */
const SERVED =
  /^(?:mcp$|(?:openrouter|sluice):.|(?:code_interpreter|code_execution|bash|shell|apply_patch|computer|computer_use|text_editor)(?:_preview)?(?:_\d{8})?$)/

/** The first tool that only some providers run; the loop of server tools removes those that the gateway runs. */
export function serverToolOf({ tools, mcp_servers }: JsonObject, dialect: DialectName): string | undefined {
  if (dialect === 'messages' && asList(mcp_servers).length > 0) return 'mcp'
  for (const { type } of objectsIn(tools)) {
    if (isString(type) && SERVED.test(type)) return type
  }
  return undefined
}
