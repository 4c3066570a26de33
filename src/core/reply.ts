/** What a provider answered, as far as a dialect may see it. */
export interface UpstreamReply {
  readonly status: number
  readonly headers: Headers
  /**
   * The body, pulled: nothing is read ahead of the consumer. Throws `UpstreamError` of kind `connect` (reset),
   * `timeout` (stall, total) or rethrows the abort. Leaving the loop early closes the connection to the provider.
   */
  readonly bytes: AsyncIterable<Uint8Array>
  /** The whole body as text, at most `limitBytes` (then an `UpstreamError` of kind `malformed`). */
  text(limitBytes?: number): Promise<string>
}
