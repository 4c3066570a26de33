/** A reply to be saved as a file. The lines are pulled: none is made before the last one is on its way. */
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
