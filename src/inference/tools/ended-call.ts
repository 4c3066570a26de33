import type { GatewayError } from '../../core/errors.ts'
import type { JsonObject, ServerToolCall } from '../../core/events.ts'
import type { ToolResult } from '../../tools/tool.ts'

/** A call that has ended: with its result, or with what failed. */
export interface EndedCall {
  readonly call: ServerToolCall
  /** For the model. */
  readonly message: string
  readonly result: ToolResult | null
  /** Ends the request. */
  readonly refusal: GatewayError | null
  /** What content filters found in the result. */
  readonly findings: readonly JsonObject[]
}
