/** A provider's reply, as far as a dialect may see it. */
export interface UpstreamReply {
  readonly status: number
  readonly headers: Headers
  /**
   * The body, pulled: nothing is read ahead of the consumer. Throws `UpstreamError` of kind `connect` (reset),
   * `timeout` (stall, total) or rethrows the abort. Leaving the loop early closes the connection to the provider.
   */
  readonly bytes: AsyncIterable<Uint8Array>
  /** The complete body as text, at most `limitBytes` (then an `UpstreamError` of kind `malformed`). */
  text(limitBytes?: number): Promise<string>
  /**
   * As much of the body as comes within `ms`, at most `limitBytes`, as text; the rest is cut off. A body that breaks
   * off or stalls returns the part that arrived. Rethrows the abort.
   */
  beginning(limitBytes: number, ms: number): Promise<string>
  /**
   * Tells the clocks to wait for content, for readers that know pings from answers: bytes alone no longer show that
   * the reply goes on. The returned function reports that it did.
   */
  awaitContent?(): () => void
}
