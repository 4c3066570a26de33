import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import type { ChatQuirks } from '../../core/snapshot.ts'

/** Names what is left out. */
export type LeaveOut = (name: string) => void

/** Makes the body's own fields those of a vendor that takes the dialect otherwise; `messages` are left as they are. */
export function applyQuirks(body: JsonObject, quirks: ChatQuirks, leaveOut: LeaveOut): void {
  if (quirks.tools === false) leaveOutTools(body, leaveOut)
  if (quirks.requiredToolChoice && body.tool_choice === 'required') {
    body.tool_choice = quirks.requiredToolChoice
  }
  leaveOutFormat(body, quirks, leaveOut)
  for (const name of quirks.refusedFields ?? []) leaveOutField(body, name, leaveOut)
  if (quirks.storedMetadata && body.store !== true) leaveOutField(body, 'metadata', leaveOut)
  bringInside(body, quirks, leaveOut)
  if (quirks.toolParameters && Array.isArray(body.tools)) body.tools = body.tools.map(withParameters)
  if (quirks.refusedMessageFields?.includes('cache_control') && Array.isArray(body.tools)) {
    body.tools = body.tools.map((tool: unknown) => withoutMark(tool, leaveOut))
  }
  for (const [name, own] of Object.entries(quirks.fieldNames ?? {})) {
    if (body[name] === undefined) continue
    // What a caller wrote in the vendor's own words wins.
    body[own] ??= body[name]
    delete body[name]
  }
}

function leaveOutTools(body: JsonObject, leaveOut: LeaveOut): void {
  const { tools, tool_choice } = body
  if (Array.isArray(tools) && tools.length > 0) leaveOut('tools')
  if (tool_choice !== undefined && tool_choice !== 'auto' && tool_choice !== 'none') leaveOut('tool_choice')
  delete body.tools
  delete body.tool_choice
  delete body.parallel_tool_calls
}

function leaveOutFormat(body: JsonObject, { responseFormats }: ChatQuirks, leaveOut: LeaveOut): void {
  const format = body.response_format
  if (responseFormats === undefined || !isObject(format)) return
  if (isString(format.type) && responseFormats.includes(format.type)) return
  if (format.type !== 'text') leaveOut('response_format')
  delete body.response_format
}

function leaveOutField(body: JsonObject, name: string, leaveOut: LeaveOut): void {
  const value = body[name]
  delete body[name]
  if (saysSomething(value) && !(name === 'n' && value === 1)) leaveOut(name)
}

function bringInside(body: JsonObject, { ranges = {} }: ChatQuirks, leaveOut: LeaveOut): void {
  for (const [name, [least, most]] of Object.entries(ranges)) {
    const value = body[name]
    if (typeof value !== 'number' || (value >= least && value <= most)) continue
    body[name] = Math.min(Math.max(value, least), most)
    leaveOut(name)
  }
}

function withParameters(tool: unknown): unknown {
  const called = isObject(tool) ? tool.function : undefined
  if (!isObject(tool) || !isObject(called) || isObject(called.parameters)) return tool
  return { ...tool, function: { ...called, parameters: { type: 'object', properties: {} } } }
}

/** What is empty, off or null asks for nothing. */
export const saysSomething = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.length > 0
  if (isObject(value)) return Object.keys(value).length > 0
  return value !== undefined && value !== null && value !== false && value !== '' && value !== 0
}

/** A tool or a part of content without its mark for caches. */
export function withoutMark(marked: unknown, leaveOut: LeaveOut): unknown {
  if (!isObject(marked) || marked.cache_control === undefined) return marked
  const { cache_control, ...rest } = marked
  if (saysSomething(cache_control)) leaveOut('cache_control')
  return rest
}
