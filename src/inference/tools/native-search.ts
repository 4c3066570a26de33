import { defined } from '../../core/json.ts'
import type { InferenceRequest, Tool } from '../../core/request.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import { isNative, nativeSearchOf } from '../../plugins/web/native.ts'
import { PREFIX, typeOf } from './allowed.ts'
import { entryOf } from './requested.ts'

/**
 * The request with the provider's own search in place of the gateway's tool: if its engine is `native`, or `auto` and every
 * endpoint of the models has one. Throws a 400 for `native` if none has.
 */
export function withNativeSearch(request: InferenceRequest, snapshot: Snapshot): InferenceRequest {
  // More of them are refused by `toolRequestOf`.
  if (request.tools.filter(isSearch).length !== 1) return request
  const tools = request.tools.map((tool) => nativeOf(tool, request, snapshot) ?? tool)
  if (tools.every((tool, i) => tool === request.tools[i])) return request
  const { serverTool, ...rest } = request
  const hasOthers = tools.some((tool) => PREFIX.test(typeOf(tool)))
  return { ...rest, ...(hasOthers && serverTool !== undefined && { serverTool }), tools, rewritten: true }
}

const isSearch = (tool: Tool): boolean => /^(?:openrouter|sluice):web_search$/.test(typeOf(tool))

function nativeOf(tool: Tool, request: InferenceRequest, snapshot: Snapshot): Tool | null {
  if (tool.type === 'function' || !isSearch(tool)) return null
  const { parameters, path } = entryOf(tool.data, request)
  if (!isNative(request, parameters['engine'], { snapshot }, path)) return null
  const { max_uses, allowed_domains, excluded_domains, user_location } = parameters
  return nativeSearchOf(
    defined({
      id: 'web',
      max_uses,
      include_domains: allowed_domains,
      exclude_domains: excluded_domains,
      user_location,
    }),
  )
}
