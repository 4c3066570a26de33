import type { JsonObject } from '../../core/events.ts'
import { asList, isObject, isString } from '../../core/json.ts'

/**
 * Tools of this dialect that are function tools to providers of other dialects, and back: `custom` tools, whose free
 * text is the one argument `input`, and tools of a `namespace`, which is a prefix of their name.
 */
export interface NamedTool {
  readonly type: 'function' | 'custom'
  readonly name: string
  readonly namespace: string | undefined
  readonly data: JsonObject
}

/** The one argument of a custom tool that was declared as a function. */
export const CUSTOM_ARGUMENT = 'input'

/** How other dialects name a tool. */
export const flatName = (name: string, namespace: string | null | undefined): string =>
  namespace ? `${namespace}__${name}` : name

/** The function and custom tools of a list, those of namespaces too. */
export function namedTools(tools: readonly unknown[], namespace?: string): NamedTool[] {
  return tools.flatMap((data): NamedTool[] => {
    if (!isObject(data) || !isString(data.name)) return []
    const { type, name } = data
    if (type === 'function' || type === 'custom') return [{ type, name, namespace, data }]
    return type === 'namespace' && Array.isArray(data.tools) ? namedTools(data.tools, name) : []
  })
}

/** Every list of tools in a body: `tools`, and those that items of its input add. */
export function toolsOf({ tools, input }: JsonObject): unknown[] {
  const added = Array.isArray(input)
    ? input.flatMap((item: unknown) =>
        isObject(item) && item.type === 'additional_tools' ? asList(item.tools) : [],
      )
    : []
  return [...asList(tools), ...added]
}

/** The tools of a body by the names under which other dialects call them. */
export const toolsByName = (body: JsonObject): ReadonlyMap<string, NamedTool> =>
  new Map(namedTools(toolsOf(body)).map((tool) => [flatName(tool.name, tool.namespace), tool]))
