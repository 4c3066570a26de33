/** A reply to be saved as a file. Lines are generated with backpressure. */
export function download(lines: AsyncGenerator<string>, mediaType: string, filename: string): Response {
  const headers = {
    'content-type': mediaType,
    'content-disposition': `attachment; filename="${filename}"`,
  }
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await lines.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    cancel: () => lines.return(undefined).then(() => undefined),
  })
  return new Response(body, { headers })
}

/** The unchanged bytes of a file, as a download that a browser never renders. */
export const fileReply = (file: Bun.BunFile, filename: string): Response =>
  new Response(file, {
    headers: {
      'content-type': 'application/octet-stream',
      // RFC 6266 and RFC 8187: an ASCII name for old clients, the exact one for all others.
      'content-disposition': `attachment; filename="${filename.replace(/[^\x20-\x7e]|["\\%]/g, '_')}"; filename*=UTF-8''${encodeURIComponent(filename).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)}`,
    },
  })
