import { badRequest } from '../../core/errors.ts'
import { fieldsOf, isString, objectsIn } from '../../core/json.ts'
import type { PluginOptions } from '../../core/plugin-options.ts'
import type { InferenceRequest, Tool } from '../../core/request.ts'
import { providerOptionsOf } from '../../dialects/unbuilt.ts'
import type { Opening } from '../generation.ts'
import { dialectsOf } from './endpoint-dialects.ts'
import { resolve } from './resolve.ts'

type Asked = Pick<Opening<InferenceRequest>, 'request' | 'caller' | 'snapshot'>

/**
 * Hands the plugins and server tools of a request on, whole, if every endpoint that may answer it is of a provider that
 * the operator lets run them (`delegate_tools` of its entry). A plugin that a guardrail sets always runs here.
 */
export function withDelegation<Opened extends Asked>(opening: Opened): Opened {
  const { request, caller } = opening
  const listed = objectsIn(request.body['plugins'])
  if (listed.length === 0 && request.tools.length === 0) return opening
  const wanted = wantedOf(request)
  const rules = (caller.key.guardrails ?? []).flatMap(({ plugins = [] }) => plugins)
  const kept = new Set(rules.filter(({ enforcement }) => enforcement === 'always').map(({ id }) => id))
  const plugins = listed.filter(isNamed).filter(({ id }) => !kept.has(id))
  const tools = handedOn(request)
  const isHandedOn = (plugins.length > 0 || tools) && isServedByDelegates(opening, tools, wanted)
  if (!isHandedOn) {
    const demanded = [...wanted].find(([, isWanted]) => isWanted)?.[0]
    if (demanded !== undefined) throw notHandedOn(demanded)
    return opening
  }
  return { ...opening, cache: undefined, request: { ...request, delegated: { plugins, tools } } }
}

/** `delegate_tools` of the request's `provider.options`, by the slug of the provider. */
function wantedOf({ body }: InferenceRequest): ReadonlyMap<string, boolean> {
  const options = Object.entries(providerOptionsOf(body['provider']))
  return new Map(
    options.flatMap(([slug, each]) => {
      const wanted = fieldsOf(each)['delegate_tools']
      return typeof wanted === 'boolean' ? [[slug.toLowerCase(), wanted] as const] : []
    }),
  )
}

const notHandedOn = (slug: string) =>
  badRequest(
    'cannot hold: plugins and tools are handed on if every endpoint of the request is at providers whose entries have delegate_tools, if those speak its API, and if no tool is one of this gateway alone. Name the provider in provider.only, or leave this out',
    `provider.options.${slug.slice(0, 60)}.delegate_tools`,
  )

const isNamed = (plugin: { id?: unknown }): plugin is PluginOptions => isString(plugin.id)

/** True if the request has server tools, and none that only this gateway has. */
function handedOn({ tools, dialect }: InferenceRequest): boolean {
  const types = tools.map(typeOf).filter((type) => type !== '')
  if (types.some((type) => OURS.test(type))) return false
  return types.some((type) => THEIRS.test(type) || (dialect === 'chat' && type.startsWith('web_search')))
}

const typeOf = (tool: Tool): string => (tool.type === 'other' ? String(tool.data['type']) : '')
/** Files and MCP servers are known here alone. */
const OURS = /^(?:sluice:|mcp$|(?:openrouter:)?file_search$)/
const THEIRS = /^openrouter:/

function isServedByDelegates(opening: Asked, tools: boolean, wanted: ReadonlyMap<string, boolean>): boolean {
  const { request, caller } = opening
  const { only } = request.preferences
  const usual = caller.workspace.defaultTextModel
  const names = request.models.length === 0 && usual !== null ? [usual] : request.models
  // A plugin of the gateway's own stands for this suffix.
  if (names.some((name) => name.endsWith(':online'))) return false
  const routes = names
    .flatMap((name) => resolve(name, opening)?.routes ?? [])
    .filter(({ provider }) => only?.includes(provider.slug) ?? true)
  return (
    routes.length > 0 &&
    routes.every(({ provider, endpoint }) => {
      const dialects = dialectsOf(provider, endpoint)
      const isSpoken = !tools || (request.dialect !== null && dialects.includes(request.dialect))
      return provider.quirks.delegates === true && wanted.get(provider.slug) !== false && isSpoken
    })
  )
}
