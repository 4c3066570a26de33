/** Two providers with credentials of the gateway. Each test adds its own BYOK keys, which are removed after it. */
import { afterAll, afterEach, expect } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { API_KEY, type Gateway } from '../gateway.ts'
import { type FakeUpstream, startUpstream, streamed, unary } from '../upstream.ts'

const SHARED = 'sk-shared-0123456789-gateway'
const PRICES = { prompt: '0.000001', completion: '0.000001' }

/** The BYOK key of this name, with words that must never be logged. */
export const keyOf = (name: string): string => `sk-own-${name}-0123456789-canary`

const nameOf = (authorization: string | null): string => {
  const secret = authorization?.replace('Bearer ', '') ?? ''
  return secret === SHARED ? 'shared' : (/^sk-own-(\w+)-/.exec(secret)?.[1] ?? secret)
}

interface Calls {
  /** The names of the keys that were used, with `@two` at the second provider. */
  asked: string[]
  /** The keys that the providers reject, each with its status. */
  refused: Record<string, number>
}

/** The providers record the names of keys, and reject those of `refused`. */
function answerByKey(upstream: FakeUpstream, calls: Calls): void {
  for (const model of ['tiny', 'large', 'gpt-4o-mini']) {
    upstream.on(model, (seen, request) => {
      const name = nameOf(seen.headers.get('authorization'))
      const at = seen.path.split('/')[2] ?? ''
      calls.asked.push(at === 'chat' ? name : `${name}@${at}`)
      const status = calls.refused[name]
      if (status !== undefined) {
        return Response.json(
          { error: { message: `Refused: ${seen.headers.get('authorization')}` } },
          { status },
        )
      }
      return (seen.body['stream'] === true ? streamed(['Yes', '.']) : unary('Yes.'))(seen, request)
    })
  }
}

/** A cloud that records signatures and rejects every one. */
function startCloud(signatures: (string | null)[]) {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ headers }) {
      signatures.push(headers.get('authorization'))
      return Response.json({ message: 'The security token is invalid: canary-0123456789' }, { status: 403 })
    },
  })
}

const models = (...ids: string[]) =>
  ids.map((id) => ({ id, context_length: 1000, max_completion_tokens: 100, pricing: PRICES }))

/** Creates and changes BYOK keys, and asks with them. */
const actionsOf = (gateway: Gateway, calls: Calls) => ({
  async bring(name: string, fields: object = {}): Promise<string> {
    const reply = await gateway.manage('POST', '/byok', { provider: 'one', key: keyOf(name), ...fields })
    const body = objectOf(await reply.json())
    expect([reply.status, body]).toEqual([201, { data: expect.anything() }])
    return String(objectOf(body['data'])['id'])
  },
  change: async (id: string, fields: object): Promise<void> =>
    expect((await gateway.manage('PATCH', `/byok/${id}`, fields)).status).toBe(200),
  async ask(model = 'tiny', more: object = {}, key = API_KEY) {
    calls.asked = []
    const body = {
      model,
      max_tokens: 5,
      messages: [{ role: 'user', content: 'Hi' }],
      provider: { only: ['one'] },
      ...more,
    }
    const reply = await gateway.call('/chat/completions', body, { authorization: `Bearer ${key}` })
    return { status: reply.status, text: await reply.text(), asked: [...calls.asked] }
  },
})

export async function startForByok() {
  const calls: Calls = { asked: [], refused: {} }
  const lines: string[] = []
  const signatures: (string | null)[] = []
  const upstream = startUpstream()
  answerByKey(upstream, calls)
  const cloud = startCloud(signatures)
  const gateway = await gatewayOfFile(
    {
      log: (line) => lines.push(line),
      providers: [
        { slug: 'one', base_url: upstream.baseUrl, api_key: SHARED, models: models('tiny', 'large') },
        {
          slug: 'two',
          base_url: `${upstream.baseUrl}/two`,
          api_key: SHARED,
          models: [{ ...models('tiny')[0], pricing: { prompt: '0.001', completion: '0.001' } }],
        },
      ],
      environment: {
        OPENAI_BASE_URL: upstream.baseUrl,
        AWS_REGION: 'eu-west-1',
        AWS_BEDROCK_BASE_URL: `http://127.0.0.1:${cloud.port}`,
      },
    },
    upstream,
    { stop: () => cloud.stop(true) },
  )
  afterAll(() => {
    expect(lines.length).toBeGreaterThan(0)
    expect(lines.filter((line) => /canary|0123456789/.test(line))).toEqual([])
  })
  afterEach(async () => {
    calls.asked = []
    calls.refused = {}
    const { data } = objectOf(await (await gateway.manage('GET', '/byok?limit=100')).json())
    for (const row of Array.isArray(data) ? data : []) {
      await gateway.manage('DELETE', `/byok/${objectOf(row)['id']}`)
    }
  })
  const actions = actionsOf(gateway, calls)
  return {
    gateway,
    calls,
    signatures,
    ...actions,
    askedBy: async (model?: string, more?: object, key?: string): Promise<string[]> =>
      (await actions.ask(model, more, key)).asked,
  }
}
