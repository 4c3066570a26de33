/** What of Google's API has to do with context caches: it counts a token for four characters of text. */

interface SeenCall {
  path: string
  body: Record<string, unknown>
}

export interface FakeGoogle {
  readonly baseUrl: string
  readonly seen: SeenCall[]
  /** The bodies of the caches that were made. */
  made(): Record<string, unknown>[]
  /** Answers the next calls for a cache instead; undefined: as Google does. */
  refuse: (() => Response | Promise<Response>) | undefined
  /** Answers the next questions instead; undefined: as Google does. */
  answer: (() => Response) | undefined
  /** Forgets all caches, as if they had ended. */
  forget(): void
  stop(): Promise<void>
}

const LEAST_TOKENS = 1_024

const chunkOf = (promptTokens: number, cachedTokens: number, responseId: string) => ({
  candidates: [{ content: { role: 'model', parts: [{ text: 'Low.' }] }, index: 0, finishReason: 'STOP' }],
  usageMetadata: {
    promptTokenCount: promptTokens,
    ...(cachedTokens > 0 ? { cachedContentTokenCount: cachedTokens } : {}),
    candidatesTokenCount: 2,
    totalTokenCount: promptTokens + 2,
  },
  responseId,
})

export function startGoogle(): FakeGoogle {
  const seen: SeenCall[] = []
  const caches = new Map<string, { model: unknown; tokens: number }>()
  let count = 0
  const google: FakeGoogle = {
    baseUrl: '',
    seen,
    made: () => seen.filter(({ path }) => path === '/v1beta/cachedContents').map(({ body }) => body),
    refuse: undefined,
    answer: undefined,
    forget: () => caches.clear(),
    stop: () => server.stop(true),
  }

  function make(body: Record<string, unknown>): Response {
    const { model, ttl, ...kept } = body
    const tokens = tokensIn(kept)
    if (ttl !== '300s' || typeof model !== 'string') return refusal(400, 'Invalid JSON payload received')
    if (tokens < LEAST_TOKENS) {
      return refusal(
        400,
        `Cached content is too small. total_token_count=${tokens}, min_total_token_count=${LEAST_TOKENS}`,
      )
    }
    const name = `cachedContents/c${++count}`
    caches.set(name, { model, tokens })
    return Response.json({ name, model, usageMetadata: { totalTokenCount: tokens } })
  }

  function generate(model: string, isStream: boolean, body: Record<string, unknown>): Response {
    const { cachedContent, generationConfig: _, ...asked } = body
    const cache = caches.get(String(cachedContent))
    if (cachedContent !== undefined) {
      if (asked['systemInstruction'] ?? asked['tools'] ?? asked['toolConfig']) {
        const sentence =
          'CachedContent can not be used with GenerateContent request setting system_instruction'
        return refusal(400, sentence)
      }
      if (cache?.model !== model) return refusal(403, 'CachedContent not found (or permission denied)')
    }
    const cached = cache?.tokens ?? 0
    const prompt = cached + tokensIn(asked)
    const chunk = chunkOf(prompt, cached, `r-${seen.length}`)
    if (!isStream) return Response.json(chunk)
    return new Response(`data: ${JSON.stringify(chunk)}\r\n\r\n`, {
      headers: { 'content-type': 'text/event-stream' },
    })
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const body: Record<string, unknown> = await request.json()
      seen.push({ path: pathname, body })
      if (pathname === '/v1beta/cachedContents') return (await google.refuse?.()) ?? make(body)
      const called = /^\/v1beta\/(models\/[^:]+):(stream)?/.exec(pathname)
      return called === null
        ? refusal(404, `Path ${pathname} is not found`)
        : (google.answer?.() ?? generate(called[1] ?? '', called[2] !== undefined, body))
    },
  })
  return Object.assign(google, { baseUrl: `http://127.0.0.1:${server.port}/v1beta` })
}

export const refusal = (code: number, message: string): Response =>
  Response.json({ error: { code, message, status: 'FAILED' } }, { status: code })

export function tokensIn(value: unknown): number {
  let length = 0
  JSON.stringify(value, (key, each: unknown) => {
    if (key === 'text' && typeof each === 'string') length += each.length
    return each
  })
  return Math.ceil(length / 4)
}
