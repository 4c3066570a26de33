/** Responses that run without their caller's connection, by OpenAI's own client. */
import { beforeEach } from 'bun:test'
import type OpenAI from 'openai'
import { gatewayOfFile, openaiOf } from '../file-setup.ts'
import { type FakeUpstream, frames, paced, sse, startUpstream, streamed } from '../upstream.ts'

const models = ['tiny', 'held', 'broken', 'refusing'].map((id) => ({
  id,
  pricing: { prompt: '0.000001', completion: '0.000002' },
}))
export const WORDS = ['One', ' two', ' three']

/** Holds the model `held` in the middle of its answer, after its first word. */
interface Gate {
  /** Resolves when the first word has been sent. */
  readonly reached: Promise<void>
  open(): void
}

function holdAt(upstream: FakeUpstream): Gate {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  let sent = 0
  upstream.on('held', () =>
    paced(frames(WORDS), 'close', async () => {
      sent += 1
      if (sent !== 3) return
      reached.resolve()
      await opened.promise
    }),
  )
  return { reached: reached.promise, open: opened.resolve }
}

export async function startForBackground() {
  const upstream = startUpstream()
  const gateway = await gatewayOfFile(
    {
      listens: true,
      providers: [{ slug: 'lab', dialect: 'chat', base_url: upstream.baseUrl, models }],
    },
    upstream,
  )
  beforeEach(() => {
    upstream.on('tiny', streamed(WORDS))
    upstream.on('broken', () => sse(frames(WORDS).slice(0, 2)))
    upstream.on('refusing', () =>
      Response.json({ error: { message: 'the text is too long', code: 'too_long' } }, { status: 400 }),
    )
  })
  const client = openaiOf(gateway)
  return {
    upstream,
    gateway,
    client,
    hold: () => holdAt(upstream),
    /** Polls a response until it has ended. */
    async ended(id: string): Promise<OpenAI.Responses.Response> {
      for (;;) {
        const response = await client.responses.retrieve(id)
        if (response.status !== 'queued' && response.status !== 'in_progress') return response
      }
    },
    async generationOf(id: string) {
      const response = await gateway.call(`/generation?id=${id}`)
      return (await response.json()).data
    },
  }
}
