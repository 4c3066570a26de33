import { UpstreamError } from '../core/errors.ts'

/** The codings of HTTP that are decoded. A body of another coding is passed on as it is, and no reader accepts it. */
const FORMATS: Readonly<Record<string, Bun.CompressionFormat>> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  br: 'brotli',
  zstd: 'zstd',
}

/**
 * The body of a reply, decompressed as far as it is read: a kilobyte may become a gigabyte. Bun 1.4.5 would decompress
 * all that has arrived into memory. Throws an `UpstreamError` `connect` for a body that cannot be decompressed or ends
 * too early.
 */
export function plainBody({ headers, body }: Response): ReadableStream<Uint8Array> | null {
  const format = FORMATS[headers.get('content-encoding')?.trim().toLowerCase() ?? '']
  if (format === undefined || body === null) return body
  // `Reflect`, because the DOM types have no brotli and no zstd.
  const decompression: DecompressionStream = Reflect.construct(DecompressionStream, [format])
  const reader = body.pipeThrough(decompression).getReader()
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          throw isOfConnection(error) ? error : unreadable()
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** Errors of Bun's `fetch` have a code of their own, those of a decompression have none or one of Node's. */
const isOfConnection = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code !== 'ERR_TRAILING_JUNK_AFTER_STREAM_END'

const unreadable = (): UpstreamError =>
  new UpstreamError('connect', 'the reply is compressed and cannot be read', { code: 'ZlibError' })
