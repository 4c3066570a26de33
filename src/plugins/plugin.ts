/** The contract of plugins: what the gateway does to requests and replies because a caller or an operator wants it. */
import type { Caller } from '../core/caller.ts'
import type { DocumentFile, DocumentText } from '../core/document-reader.ts'
import type { InferenceFrames, JsonObject } from '../core/events.ts'
import type { Facilities } from '../core/facilities.ts'
import type { EndpointMeasurements } from '../core/measurements.ts'
import type { PluginOptions } from '../core/plugin-options.ts'
import type { InferenceRequest } from '../core/request.ts'
import type { Snapshot } from '../core/snapshot.ts'
import type { WebAccess } from '../core/web-access.ts'
import type { Content } from '../net/content.ts'

/** At most five members. */
export interface Plugin<Options extends PluginOptions = PluginOptions> {
  readonly id: string
  /** The options of a request that has the plugin without naming it, for example by its model; null: it has not. */
  implied?(request: InferenceRequest): Options | null
  /** True for a request that has the plugin unless the request, its workspace or a guardrail says otherwise. */
  isUsual?(request: InferenceRequest, caller: Caller): boolean
  /**
   * Runs before the plan. Returns the request, changed or not (with `rewritten` if its messages or tools are), or throws
   * the caller's error. Never changes `request` itself.
   */
  request?(
    request: InferenceRequest,
    options: Options,
    context: PluginContext,
  ): InferenceRequest | Promise<InferenceRequest>
  /**
   * The reply as the caller gets it, streamed or not: linear, bounded, and with the usage and the end of `frames`. It has
   * been counted and filtered before. A `GatewayError` ends the reply with this error, and the answer is charged.
   */
  frames?(frames: InferenceFrames, options: Options, context: PluginContext): InferenceFrames
}

/** What a plugin may use. */
export interface PluginContext extends Facilities {
  readonly caller: Caller
  readonly snapshot: Snapshot
  readonly web: WebAccess
  /** What the gateway has measured of an endpoint; null: nothing. */
  measured(endpointId: string): EndpointMeasurements | null
  /** Reads a file for the caller's workspace: see `DocumentReader.read`. */
  readDocument(file: DocumentFile): Promise<DocumentText>
  /** Of the setting: a model that reads pages, or one that sees. */
  readonly ocrModel: string
  /** The content at an address of the request, through the guard. Throws the caller's error. */
  fetchContent(url: string, signal: AbortSignal): Promise<Content>
  /**
   * A text from elsewhere, as the content filters of the caller's guardrails let it into the conversation. Throws the 403 of
   * one that blocks.
   */
  filtered(text: string): Promise<string>
  /** As it is after the request hooks that ran until now. */
  readonly request: InferenceRequest
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /** Milliseconds since 1970. */
  now(): number
  /** Adds a stage to `pipeline` of the routing metadata: what the plugin did, with `type`, `name`, `summary` and `data`. */
  report(stage: JsonObject): void
}
