import type { InferenceEvent, JsonObject } from '../../core/events.ts'
import { isEnabled } from '../../http/header-switch.ts'

/** Opts in to the calls of the gateway's own tools. Without it a reply has the field nowhere. */
export const wantsToolEvents = (headers: Headers): boolean => isEnabled(headers, 'x-service-tool-events')

/** The calls that begin and end in these events, in the words of `reasoning.server_tool_call` (api-surface §15). */
export const toolEventsOf = (events: readonly InferenceEvent[]): JsonObject[] =>
  events.flatMap((event) => {
    if (event.type !== 'server-tool') return []
    const { id, name, status, arguments: args, text, mcp } = event.call
    return [
      {
        type: 'server_tool_call',
        status,
        tool_call_id: id,
        tool_name: mcp?.tool ?? name,
        ...(mcp && { server_label: mcp.label }),
        arguments: JSON.stringify(args),
        ...(status !== 'in_progress' && { result: text }),
      },
    ]
  })
