/** Writes to the connection immediately. If `write` returns a promise, the connection is full until it resolves. */
export interface DirectWriter {
  write(text: string): number | Promise<number>
  flush(): unknown
  end(): unknown
}

/**
 * A body that is written as it comes, without the queue of a usual stream. `write` runs once; when it rejects, the
 * connection breaks, so that a reply never looks finished (Bun 1.4.5 prints a reason, so it rejects without one).
 * `leave` is called when the caller's connection goes away.
 */
export function directStream(
  write: (writer: DirectWriter) => void | Promise<void>,
  leave?: () => void,
): ReadableStream {
  // By `Reflect`, because the DOM's types, which the dashboard needs, know no direct streams.
  return Reflect.construct(ReadableStream, [{ type: 'direct', pull: write, cancel: leave }])
}
