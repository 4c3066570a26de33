/**
 * Bun 1.4.5 sends a reply of 16 kB and more that is made asynchronously in a dozen system calls and more, one for each
 * piece of its head; as a direct stream it takes two. That is a third of the processor time of such a reply.
 */
const LARGE_CHARACTERS = 15_000

/** A JSON reply of any length. A large one has no `Content-Length`: it is sent in chunks. */
export const jsonReply = (text: string, headers: Record<string, string>): Response =>
  new Response(text.length < LARGE_CHARACTERS ? text : directStream(text), { headers })

/** By `Reflect`, because the DOM's types, which the dashboard needs, know no direct streams. */
function directStream(text: string): ReadableStream {
  const source: Bun.DirectUnderlyingSource = {
    type: 'direct',
    pull(controller) {
      controller.write(text)
      controller.end()
    },
  }
  return Reflect.construct(ReadableStream, [source])
}
