/** Writes to the connection immediately. If `write` returns a promise, the connection is full until it resolves. */
export interface DirectWriter {
  write(text: string): number | Promise<number>
  flush(): unknown
  end(): unknown
}

/**
 * A body that is written directly, without the queue of a `ReadableStream`. `write` runs once. If it rejects, the
 * connection is closed, so that a reply never looks complete (it rejects without a reason, because Bun 1.4.5 prints it).
 * `leave` is called when the client disconnects.
 */
export function directStream(
  write: (writer: DirectWriter) => void | Promise<void>,
  leave?: () => void,
): ReadableStream {
  // `Reflect`, because the DOM types that the dashboard needs have no direct streams.
  return Reflect.construct(ReadableStream, [{ type: 'direct', pull: write, cancel: leave }])
}
