/** The contract of server tools: functions that the gateway itself runs for a model. */
import type { JsonObject, UrlCitation } from '../core/events.ts'
import type { Facilities } from '../core/facilities.ts'
import type { ToolAccess } from '../core/tool-access.ts'
import type { SearchResult } from '../core/web-access.ts'

/** At most five members. */
export interface ServerTool {
  /** In requests: `openrouter:<name>` or `sluice:<name>`. Letters, digits and `_`. */
  readonly name: string
  /**
   * What the model reads about the tool. Called before the request is planned, with the `parameters` of its entry in
   * `tools`. Throws a `GatewayError` 400 whose path begins with `place` for parameters that the tool does not take.
   */
  describe(parameters: JsonObject, place: string, access: ToolAccess): ToolDescription
  /** What `describe` cannot check without waiting. Rejects with the caller's error. */
  check?(parameters: JsonObject, place: string, access: ToolAccess): Promise<void>
  /**
   * Runs one call. A failure is thrown: its message is sent to the model, so it names no secrets, and the loop goes on.
   * A limit of the caller that refuses a step (`GatewayError` 402, 403 or 429) ends the request instead.
   */
  run(args: JsonObject, context: ToolContext): Promise<ToolResult>
  /** Milliseconds that a call needs at most, if they may be more than the setting allows. */
  readonly callMs?: number
}

export interface ToolDescription {
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject
}

/** What a tool may use. */
interface ToolContext extends Facilities, ToolAccess {
  /** Of the tool's entry in the request. */
  readonly parameters: JsonObject
  /** Aborts when the client disconnects, at shutdown, and when the time of the call or of the request is over. */
  readonly signal: AbortSignal
  /** How often this tool was called before in this request: for bounds such as `max_uses`. */
  readonly uses: number
  /** Milliseconds since 1970. */
  now(): number
}

export interface ToolResult {
  /** For the model, which reads it as data. Cut at the bound of the loop. */
  readonly text: string
  /** Fields of the tool's own output item in the Responses API, such as `action` or `url`; absent: none. */
  readonly item?: JsonObject
  /** Pages that the answer may cite: a link to one of them becomes a citation. */
  readonly sources?: readonly SearchResult[]
  /** Citations that the answer may show. Their indexes are into the answer, so most tools have none. */
  readonly citations?: readonly UrlCitation[]
  /** Addresses or data URLs of images that the caller is shown. */
  readonly images?: readonly string[]
}
