import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ProviderRecord } from '../../src/core/snapshot.ts'
import { chatIngress } from '../../src/dialects/chat/index.ts'
import type { Egress } from '../../src/dialects/dialect.ts'
import { egresses } from '../../src/dialects/index.ts'
import { factsOf, type Vendor, vendors } from '../../src/providers/compatible.ts'
import { baseUrlVariable, environmentProviders } from '../../src/providers/environment.ts'
import { providers } from '../../src/providers/index.ts'
import { attemptFor } from '../dialects/attempt.ts'
import { FIXTURES, loadRecordings, type Recording, TRANSCRIPTS } from '../recordings.ts'
import { upstreamReply } from '../upstream-reply.ts'
import { defaults } from './defaults.ts'
import { providerOf } from './environment.ts'
import { FOREIGN, PLAIN_STREAM, REFUSALS, USUAL_REFUSAL } from './vendor-replies.ts'

const ACCOUNT_PARTS = {
  CLOUDFLARE_ACCOUNT_ID: 'account-1',
  DATABRICKS_HOST: 'dbc-1.cloud.databricks.com',
  SNOWFLAKE_ACCOUNT: 'org-account',
  AWS_REGION: 'eu-central-1',
}

/** Folders of recordings whose name is not the vendor's slug. */
const FOLDERS: Readonly<Record<string, string>> = {
  moonshotai: 'moonshot',
  'amazon-bedrock': 'bedrock',
  'ollama-cloud': 'ollama',
  'z-ai': 'zai',
}

const spoken: Partial<Record<string, Egress>> = egresses

const egressOf = (dialect = 'chat'): Egress => {
  const egress = spoken[dialect]
  if (!egress) throw new Error(`no code speaks ${dialect}`)
  return egress
}

const recordings = [...loadRecordings(TRANSCRIPTS), ...loadRecordings(FIXTURES)].filter(
  ({ api, isStream, status, expected }) =>
    ['openai-chat', 'gemini', 'anthropic-messages', 'cohere-chat', 'bedrock-converse'].includes(api) &&
    isStream &&
    status === 200 &&
    !expected.error,
)

const recordingOf = (vendor: Vendor): Recording | undefined =>
  recordings.find(
    ({ provider, api, expected }) =>
      provider === (FOLDERS[vendor.slug] ?? vendor.slug) &&
      api === (FOREIGN[vendor.dialect ?? 'chat']?.api ?? 'openai-chat') &&
      expected.finish,
  )

interface Seen {
  path: string
  authorization: string | null
  headers: Headers
  type: string | null
  body: Record<string, unknown>
}

let seen: Seen[] = []

let answer: () => Response = () => new Response()

let server: Bun.Server<undefined>

beforeAll(() => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      seen.push({
        path: new URL(request.url).pathname,
        authorization: request.headers.get('authorization'),
        headers: request.headers,
        type: request.headers.get('content-type'),
        body: JSON.parse(await request.text()),
      })
      return answer()
    },
  })
})

afterAll(() => server.stop(true))

/** The vendor as the environment configures it, with the address of the replaying server. */
function moved({ keys: [key] }: Vendor): ProviderRecord {
  const base = `http://127.0.0.1:${server.port}/moved/v9/`
  return providerOf({ [key]: ' secret-1 ', [baseUrlVariable(key)]: base })
}

async function call(provider: ProviderRecord): Promise<Response> {
  const request = chatIngress.parse(
    {
      model: 'lab/model',
      stream: true,
      max_tokens: 11,
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
    },
    new Headers(),
  )
  const [credential] = provider.credentials
  if (credential === undefined) throw new Error('no credential')
  const attempt = attemptFor(provider.dialect, {
    endpoint: { modelId: 'lab/model', upstreamId: 'its-own-name' },
    provider,
  })
  const built = egressOf(provider.dialect).build(request, { ...attempt, credential })
  const prepared = await providers[provider.kind].prepare(provider, credential, built)
  seen = []
  return fetch(prepared.url, {
    method: prepared.method,
    headers: prepared.headers,
    body: prepared.body ?? null,
  })
}

async function readText(response: Response, { dialect }: Vendor): Promise<string> {
  const { status, headers } = response
  const reply = upstreamReply(await response.bytes(), { status, headers })
  let text = ''
  let ends = 0
  for await (const batch of egressOf(dialect).read(reply, true)) {
    for (const event of batch.flatMap((frame) => frame.events)) {
      if (event.type === 'text-delta' && event.choice === 0) text += event.text
      if (event.type === 'response-end') ends += 1
    }
  }
  expect(ends).toBe(1)
  return text
}

test('there are at least 30 vendors, each with its own name, key and facts', () => {
  expect(vendors.length).toBeGreaterThanOrEqual(30)
  for (const field of ['slug', 'name', 'baseUrl'] as const) {
    expect(new Set(vendors.map((vendor) => vendor[field])).size).toBe(vendors.length)
  }
  const keys = vendors.flatMap((vendor) => vendor.keys)
  expect(new Set(keys).size).toBe(keys.length)
  expect(new Set(vendors.map(factsOf)).size).toBe(vendors.length)
  expect(new Set(keys.map(baseUrlVariable)).size).toBe(keys.length)
})

describe.each(vendors.map((vendor) => [vendor.slug, vendor] as const))('%s', (_, vendor) => {
  test('has an https address on the public internet, with a path that ends without a slash', () => {
    const found = environmentProviders({ [vendor.keys[0]]: 'secret-1', ...ACCOUNT_PARTS }, defaults)
    expect(found.problems).toEqual([])
    const url = new URL(found.providers[0]?.baseUrl ?? '')
    expect(url.protocol).toBe('https:')
    expect(url.hostname).toMatch(/^[a-z0-9.-]+\.[a-z]{2,}$/)
    expect(url.href.replace(/\/$/, '')).toBe(found.providers[0]?.baseUrl ?? '')
    expect([url.search, url.hash, url.username, url.port]).toEqual(['', '', '', ''])
  })

  test('gets its path, its credential and the parameters that it accepts', async () => {
    const foreign = FOREIGN[vendor.dialect ?? 'chat']
    answer = () =>
      new Response(foreign?.plain ?? PLAIN_STREAM, { headers: { 'content-type': 'text/event-stream' } })
    const provider = moved(vendor)
    expect(await readText(await call(provider), vendor)).toBe('Hello')
    const [request] = seen
    if (foreign) {
      expect(request?.path).toBe(`/moved/v9${foreign.path}`)
      const isBearer = foreign.header === 'authorization'
      expect(request?.headers.get(foreign.header)).toBe(isBearer ? 'Bearer secret-1' : 'secret-1')
      if (!isBearer) expect(request?.authorization).toBeNull()
      expect<unknown>(request?.body).toEqual(foreign.body)
      return
    }
    expect(request?.path).toBe('/moved/v9/chat/completions')
    expect(request?.authorization).toBe('Bearer secret-1')
    expect(request?.type).toBe('application/json')
    const { quirks } = provider
    const bound = quirks.outputBoundField ?? 'max_tokens'
    expect(request?.body).toEqual({
      model: 'its-own-name',
      stream: true,
      [bound]: 11,
      ...(quirks.streamOptions === false ? {} : { stream_options: { include_usage: true } }),
      messages: [
        { role: quirks.developerRole === false ? 'system' : 'developer', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
    })
  })

  test('reports a wrong credential in its own format', async () => {
    const refusal = REFUSALS[vendor.slug] ?? USUAL_REFUSAL
    answer = () => Response.json(refusal.body, { status: refusal.status })
    const response = await call(moved(vendor))
    const error = egressOf(vendor.dialect).readError(response.status, response.headers, await response.text())
    expect(error.kind).toBe('credential')
    expect(error.reason).toContain(refusal.reason)
  })

  const recording = recordingOf(vendor)
  if (recording !== undefined) {
    test(`streams as recorded in ${recording.name}`, async () => {
      answer = () => new Response(recording.bytes, { headers: { 'content-type': 'text/event-stream' } })
      expect(await readText(await call(moved(vendor)), vendor)).toBe(recording.expected.text ?? '')
    })
  }
})
