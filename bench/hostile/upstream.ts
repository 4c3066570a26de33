import { announce } from '../child.ts'
import { type HostileReply, replies } from './replies.ts'
import type { Scale } from './shape.ts'

/** A provider that reads any request and answers by the name of the model. */
export function startHostileUpstream(scale: Scale) {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 255,
    maxRequestBodySize: 256_000_000,
    async fetch(request) {
      const body = await request.text()
      // Gemini and Converse name the model in the path; forms and JSON in the body.
      const name = NAME.exec(request.url)?.[1] ?? NAME.exec(body.slice(0, 4000))?.[1] ?? nameAtEnd(body)
      const plain = PLAIN[new URL(request.url).pathname.slice('/v1'.length)]
      if (plain !== undefined) return new Response(plain, { headers: { 'content-type': 'application/json' } })
      const reply = name === undefined ? undefined : replies.get(name)
      if (reply === undefined) return Response.json({ error: { message: 'no such model' } }, { status: 404 })
      return answer(reply, scale)
    },
  })
}

/** Operations that are no conversation. */
const PLAIN: Readonly<Record<string, string>> = {
  '/embeddings':
    '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1]}],"usage":{"prompt_tokens":1,"total_tokens":1}}',
  '/rerank': '{"results":[{"index":0,"relevance_score":1}],"usage":{"total_tokens":1}}',
  '/images/generations': '{"created":1,"data":[{"b64_json":"iVBORw0KGgo="}]}',
  '/images/edits': '{"created":1,"data":[{"b64_json":"iVBORw0KGgo="}]}',
  '/audio/speech': 'sound',
  '/audio/transcriptions': '{"text":"hi"}',
}

const NAME = /up~([\w-]+)/
const nameAtEnd = (body: string): string | undefined => {
  const at = body.lastIndexOf('up~')
  return at < 0 ? undefined : NAME.exec(body.slice(at, at + 100))?.[1]
}

const encoder = new TextEncoder()
/** Written at once; a network would not deliver more at once. */
const WRITE_BYTES = 65_536

function answer({ status, type, headers, parts }: HostileReply, scale: Scale): Response {
  const iterator = parts(scale)[Symbol.iterator]()
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const written: Uint8Array[] = []
      let size = 0
      while (size < WRITE_BYTES) {
        const { done, value } = iterator.next()
        if (done) {
          if (size > 0) controller.enqueue(Buffer.concat(written))
          controller.close()
          return
        }
        const bytes = typeof value === 'string' ? encoder.encode(value) : value
        written.push(bytes)
        size += bytes.length
      }
      controller.enqueue(Buffer.concat(written))
    },
  })
  return new Response(body, { status, headers: { 'content-type': type, ...headers } })
}

if (import.meta.main) announce(startHostileUpstream(Number(process.argv[2] ?? 1)).port)
