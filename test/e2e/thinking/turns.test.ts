/**
 * Conversations of two turns with thinking and tools, by the vendors' own clients, whatever the provider speaks: what
 * it signed comes back to it unchanged, and to no other provider.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { type Gateway, startGateway } from '../../gateway.ts'
import { CALLERS } from './clients.ts'
import { SHAPES, VENDORS, type Wire } from './shapes.ts'
import { ANSWER, CALLS, SIGNATURES } from './turn.ts'

let gateway: Gateway
let seen: { path: string; wire: Wire; body: JsonObject }[] = []

const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const path = new URL(request.url).pathname
    const wire = [...SHAPES, ...VENDORS].flatMap(({ wires }) => wires).find((each) => each.path.test(path))
    if (!wire) return new Response('there is no such route', { status: 500 })
    const body: JsonObject = await request.json()
    seen.push({ path, wire, body })
    return wire.reply(seen.length === 1, body.stream === true || /stream/i.test(path))
  },
})

beforeAll(async () => {
  const base = `http://127.0.0.1:${upstream.port}`
  const pricing = { prompt: '0.000001', completion: '0.000002' }
  const entry = (slug: string, dialect: string, path: string, model: JsonObject, more: JsonObject = {}) => ({
    slug,
    dialect,
    base_url: `${base}${path}`,
    ...(dialect === 'converse' ? {} : { api_key: `secret-of-${slug}` }),
    models: [{ max_completion_tokens: 9000, pricing, ...model }],
    ...more,
  })
  gateway = await startGateway({
    listens: true,
    environment: {
      OPENROUTER_API_KEY: 'secret-of-router',
      OPENROUTER_BASE_URL: `${base}/router/v1`,
      OPENAI_API_KEY: 'secret-of-openai',
      OPENAI_BASE_URL: `${base}/plain/openai/v1`,
      GROQ_API_KEY: 'secret-of-groq',
      GROQ_BASE_URL: `${base}/plain/groq/v1`,
      CEREBRAS_API_KEY: 'secret-of-cerebras',
      CEREBRAS_BASE_URL: `${base}/plain/cerebras/v1`,
      MISTRAL_API_KEY: 'secret-of-mistral',
      MISTRAL_BASE_URL: `${base}/plain/mistral/v1`,
    },
    providers: [
      entry('claude', 'messages', '/claude/v1', { id: 'claude-lab', upstream_id: 'claude-sonnet-4-5' }),
      entry('google', 'gemini', '/google/v1beta', { id: 'gemini-lab', upstream_id: 'gemini-3-pro' }),
      entry('open', 'responses', '/open/v1', { id: 'o-lab', upstream_id: 'gpt-5-mini' }),
      entry(
        'aws',
        'converse',
        '/aws',
        { id: 'bedrock-lab', upstream_id: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0' },
        { aws: { region: 'us-west-2', access_key_id: 'AKIALAB', secret_access_key: 'secret-of-aws' } },
      ),
      entry('cohere', 'cohere', '/cohere/v2', {
        id: 'command-lab',
        upstream_id: 'command-a-reasoning-08-2025',
      }),
    ],
  })
  gateway.deps.run.wait = async () => undefined
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})
beforeEach(() => {
  seen = []
})

const forms = [false, true].map((isStream) => ({ isStream, form: isStream ? 'streamed' : 'in one piece' }))
const rows = CALLERS.flatMap((caller) =>
  SHAPES.flatMap((shape) => forms.map(({ isStream, form }) => ({ caller, shape, isStream, form }))),
)

describe('the second turn has what the provider thought and signed in the first', () => {
  test.each(rows.map((row) => [`${row.caller.name}: ${row.shape.name}, ${row.form}`, row] as const))(
    '%s',
    async (_, { caller, shape, isStream }) => {
      const held = await caller.hold(gateway.url, { turns: [shape, shape], isStream })
      expect(held).toEqual({ calls: CALLS, answers: [ANSWER] })
      const [first, second, ...more] = seen
      expect(more).toEqual([])
      expect(second?.path).toBe(first?.path ?? '')
      expect(second?.wire.conversationOf(second.body)).toEqual(second?.wire.demanded ?? [])
    },
  )
})

const pairs = CALLERS.flatMap((caller) =>
  SHAPES.flatMap((from) =>
    [...SHAPES, ...VENDORS].filter((to) => to !== from).map((to) => ({ caller, from, to })),
  ),
)

describe('a conversation that continues at another provider has its texts there, and no foreign signature', () => {
  test.each(pairs.map((row) => [`${row.caller.name}: ${row.from.name}, then ${row.to.name}`, row] as const))(
    '%s',
    async (_, { caller, from, to }) => {
      const held = await caller.hold(gateway.url, { turns: [from, to], isStream: false })
      expect(held).toEqual({ calls: CALLS, answers: [ANSWER] })
      const sent = JSON.stringify(seen[1]?.body)
      const foreign = Object.values(SIGNATURES).filter((signature) => !to.knows.includes(signature))
      expect(
        foreign.filter((signature) => sent.includes(signature) || sent.includes(btoa(signature))),
      ).toEqual([])
      expect(sent).not.toContain('sluice.v')
      // These refuse the very fields.
      if (VENDORS.includes(to))
        expect(sent).not.toMatch(/"(reasoning_details|reasoning_content|extra_content)"/)
      expect(shownIn(sent)).toEqual(['Brest', 'Kiel', 'high at 12:03', 'low at 12:10', 'it is 11:58'])
    },
  )
})

describe('a conversation that was elsewhere has everything again when it comes back', () => {
  const returns = pairs.filter(({ to }) => !VENDORS.includes(to))
  test.each(
    returns.map((row) => [`${row.caller.name}: ${row.from.name}, then ${row.to.name}`, row] as const),
  )('%s', async (_, { caller, from, to }) => {
    const held = await caller.hold(gateway.url, { turns: [from, to, from], isStream: false })
    expect(held).toEqual({ calls: CALLS, answers: [ANSWER, ANSWER] })
    const back = seen[2]
    expect(back?.path).toBe(seen[0]?.path ?? '')
    const demanded = back?.wire.demanded ?? []
    expect(back?.wire.conversationOf(back.body).slice(0, demanded.length)).toEqual(demanded)
  })
})

/** What must have gone along, in the order in which it stands in the body. */
const shownIn = (sent: string): string[] =>
  [...sent.matchAll(/Brest|Kiel|high at 12:03|low at 12:10|it is 11:58/g)].map(([found]) => found)
