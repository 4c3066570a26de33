/** A provider of chat completions that answers every request. */

const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
const head = { id: 'up-1', created: 1, model: 'tiny' }

const chatReply = {
  ...head,
  object: 'chat.completion',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello there' } }],
  usage,
}
const chunk = (delta: object, finish_reason: string | null) => ({
  ...head,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
})
const chunks = [
  chunk({ role: 'assistant', content: 'Hello ' }, null),
  chunk({ content: 'there' }, 'stop'),
  { ...head, object: 'chat.completion.chunk', choices: [], usage },
]
const streamed = `${chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`

const countOf = (body: unknown, name: string): number => {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined
  return Array.isArray(value) ? value.length : 1
}
const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index))

/** By the end of the path. */
const replies: Readonly<Record<string, (body: unknown) => unknown>> = {
  '/chat/completions': () => chatReply,
  '/embeddings': (body) => ({
    object: 'list',
    model: 'tiny',
    data: times(countOf(body, 'input'), (index) => ({ object: 'embedding', index, embedding: [0.1, 0.2] })),
    usage: { prompt_tokens: 5, total_tokens: 5 },
  }),
  '/rerank': (body) => ({
    id: 'up-1',
    results: times(countOf(body, 'documents'), (index) => ({ index, relevance_score: 0.5 })),
    usage,
  }),
  '/images/generations': () => ({ created: 1, data: [{ b64_json: 'aGVsbG8=' }], usage }),
  '/moderations': () => ({
    id: 'up-1',
    model: 'tiny',
    results: [{ flagged: false, categories: {}, category_scores: {} }],
  }),
}

export function startUpstream(): { url: string; stop(): Promise<void> } {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const body: unknown = await request.json().catch(() => null)
      const isStream = typeof body === 'object' && body !== null && Reflect.get(body, 'stream') === true
      if (isStream) return new Response(streamed, { headers: { 'content-type': 'text/event-stream' } })
      const reply = Object.entries(replies).find(([end]) => pathname.endsWith(end))?.[1]
      return reply === undefined
        ? Response.json({ error: { message: 'no such route' } }, { status: 404 })
        : Response.json(reply(body))
    },
  })
  return { url: `http://127.0.0.1:${server.port}/v1`, stop: () => server.stop(true) }
}
