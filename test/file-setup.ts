/**
 * What all tests of one file share, started at the top level of the file with `await` and stopped after its last test.
 */
import { afterAll, beforeEach } from 'bun:test'
import OpenAI from 'openai'
import { API_KEY, forgetFailures, type Gateway, type GatewayOptions, startGateway } from './gateway.ts'

/**
 * A gateway that is stopped after the tests of the file, and these providers after it. What failed in one test does not
 * decide about the next.
 */
export async function gatewayOfFile(
  options: GatewayOptions = {},
  ...upstreams: readonly { stop(): Promise<void> }[]
): Promise<Gateway> {
  const gateway = await startGateway(options)
  beforeEach(() => forgetFailures(gateway))
  afterAll(async () => {
    await gateway.stop()
    for (const upstream of upstreams) await upstream.stop()
  })
  return gateway
}

/** OpenAI's client of a gateway that listens. It never retries, so that each call is one request. */
export const openaiOf = ({ url }: Gateway, apiKey = API_KEY): OpenAI =>
  new OpenAI({ baseURL: `${url}/api/v1`, apiKey, maxRetries: 0 })

interface QueuedUpstream<Seen> {
  /** Its address, without a path. */
  readonly origin: string
  /** The requests of the running test. */
  seen: Seen[]
  /** The replies that are still to be sent, in order. The queue is empty when a test begins. */
  answers: (() => Response | Promise<Response>)[]
  stop(): Promise<void>
}

/**
 * A provider that takes its replies from a queue, whatever the path, and replies 500 when the queue is empty. Files that
 * it serves are neither read nor taken from the queue.
 */
export function queuedUpstream<Seen>(
  read: (request: Request) => Promise<Seen>,
  fileAt: (path: string) => Response | null = () => null,
): QueuedUpstream<Seen> {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    // A reply whose stream fails on purpose must not print its error.
    error: () => new Response(null, { status: 500 }),
    async fetch(request) {
      const file = fileAt(new URL(request.url).pathname)
      if (file) return file
      upstream.seen.push(await read(request))
      return (await upstream.answers.shift()?.()) ?? new Response('nothing more', { status: 500 })
    },
  })
  const upstream: QueuedUpstream<Seen> = {
    origin: `http://127.0.0.1:${server.port}`,
    seen: [],
    answers: [],
    stop: () => server.stop(true),
  }
  beforeEach(() => {
    upstream.seen = []
    upstream.answers = []
  })
  return upstream
}

export interface SeenJson {
  path: string
  search: string
  headers: Headers
  body: Record<string, unknown>
}

/** Reads a request whose body is JSON. */
export async function readJson(request: Request): Promise<SeenJson> {
  const { pathname, search } = new URL(request.url)
  return { path: pathname, search, headers: request.headers, body: await request.json() }
}

export interface SeenForm {
  path: string
  body: Record<string, unknown>
  /** Field, name, type and size of each file. */
  files: string[]
}

/** Reads a request whose body is JSON or a form. A field that occurs several times is a list. */
export async function readForm(request: Request): Promise<SeenForm> {
  const path = new URL(request.url).pathname
  if (!request.headers.get('content-type')?.startsWith('multipart/')) {
    return { path, body: await request.json(), files: [] }
  }
  const form: SeenForm = { path, body: {}, files: [] }
  for (const [name, value] of (await request.formData()).entries()) {
    const entry: unknown = value
    if (entry instanceof File) form.files.push(`${name} ${entry.name} ${entry.type} ${entry.size}`)
    else form.body[name] = name in form.body ? [form.body[name], value].flat() : value
  }
  return form
}

/** Reads the last row of the ledger. */
export const lastRowOf = (gateway: Gateway) => (): Record<string, unknown> =>
  gateway.generations().at(-1) ?? {}

/** Entries of providers below this address, named by their slugs. */
export const providersAt =
  (origin: string) => (slug: string, dialect: string, path: string, models: readonly unknown[]) => ({
    slug,
    name: slug,
    dialect,
    base_url: `${origin}${path}`,
    api_key: `secret-of-${slug}`,
    models,
  })

/** Entries below paths of their own of one upstream, whose models cost little. */
export const pricedEntries =
  ({ baseUrl }: { readonly baseUrl: string }) =>
  (slug: string, ids: readonly string[]) => ({
    slug,
    base_url: `${baseUrl}/${slug}`,
    models: ids.map((id) => ({ id, pricing: { prompt: '0.000001', completion: '0.000002' } })),
  })

/** The entry of a chat provider. A model that is only named costs little. */
export const labOf = ({ baseUrl }: { readonly baseUrl: string }, models: readonly (string | object)[]) => ({
  slug: 'lab',
  dialect: 'chat',
  base_url: baseUrl,
  models: models.map((model) =>
    typeof model === 'string'
      ? { id: model, pricing: { prompt: '0.000001', completion: '0.000002' } }
      : model,
  ),
})

/** Moves a clock on every few milliseconds, until `wanted` is there. */
export async function whilePassing<T>(move: () => void, wanted: Promise<T>): Promise<T> {
  const passing = setInterval(move, 5)
  try {
    return await wanted
  } finally {
    clearInterval(passing)
  }
}
