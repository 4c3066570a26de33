import { describe, expect, test } from 'bun:test'
import type { InferenceEvent } from '../../src/core/events.ts'
import { isObject } from '../../src/core/json.ts'
import { chatEgress } from '../../src/dialects/chat/index.ts'
import { sampleOf } from '../../src/providers/demo/sample.ts'
import { demo, demoOffer, demoProvider } from '../../src/providers/demo.ts'
import { upstreamReply } from '../upstream-reply.ts'
import { defaults } from './defaults.ts'

const provider = demoProvider(defaults)
const messages = [{ role: 'user', content: 'Say hello' }]

async function ask(body: Record<string, unknown>, signal = new AbortController().signal): Promise<Response> {
  const [credential] = provider.credentials
  if (credential === undefined || demo.answer === undefined) throw new Error('the demo answers by itself')
  const call = await demo.prepare(provider, credential, {
    path: '/chat/completions',
    headers: {},
    body: { model: 'demo', messages, ...body },
  })
  return demo.answer(call, signal)
}

async function eventsOf(response: Response, streamed: boolean): Promise<InferenceEvent[]> {
  const { status, headers } = response
  const reply = upstreamReply(await response.bytes(), { status, headers })
  const events: InferenceEvent[] = []
  for await (const batch of chatEgress.read(reply, streamed)) {
    for (const frame of batch) events.push(...frame.events)
  }
  return events
}

const textOf = (events: readonly InferenceEvent[], choice = 0): string =>
  events.map((event) => (event.type === 'text-delta' && event.choice === choice ? event.text : '')).join('')
const argumentsOf = (events: readonly InferenceEvent[]): string =>
  events.map((event) => (event.type === 'tool-call-delta' ? event.json : '')).join('')
const finishOf = (events: readonly InferenceEvent[]): string | undefined =>
  events.flatMap((event) =>
    event.type === 'response-end' ? event.finishes.map(({ reason }) => reason) : [],
  )[0]

describe.concurrent('an answer of the demo', () => {
  test('says that it is a demo, and how to configure a provider', async () => {
    const text = textOf(await eventsOf(await ask({}), false))
    expect(text).toContain('demo')
    expect(text).toContain('OPENAI_API_KEY')
    expect(text).toContain('sluice.yaml')
    expect(text.split(' ').length).toBeLessThanOrEqual(40)
  })

  test('is the same each time, streamed and not', async () => {
    const unary = textOf(await eventsOf(await ask({}), false))
    const streams = await Promise.all([ask({ stream: true }), ask({ stream: true })])
    for (const stream of streams) expect(textOf(await eventsOf(stream, true))).toBe(unary)
  })

  test.each([[false], [true]])('reports usage above 0 and a finish (streamed: %p)', async (stream) => {
    const events = await eventsOf(await ask({ stream }), stream)
    const usage = events.flatMap((event) => (event.type === 'usage' ? [event.usage] : [])).at(-1)
    expect(usage?.inputTokens).toBeGreaterThan(0)
    expect(usage?.outputTokens).toBeGreaterThan(0)
    expect(finishOf(events)).toBe('stop')
  })

  test('longer prompts have more tokens', async () => {
    const usageOf = async (content: string): Promise<number> => {
      const events = await eventsOf(await ask({ messages: [{ role: 'user', content }] }), false)
      return events.flatMap((event) => (event.type === 'usage' ? [event.usage.inputTokens] : []))[0] ?? 0
    }
    expect(await usageOf('word '.repeat(1000))).toBeGreaterThan((await usageOf('word')) + 1000)
  })

  test('is free, stores nothing, and stays on this machine', () => {
    expect(demoOffer.endpoint.pricing).toEqual({ prompt: 0n, completion: 0n, request: 0n })
    expect(demoOffer.endpoint.isZdr).toBe(true)
    expect(provider.isLocal).toBe(true)
    expect(new URL(provider.baseUrl).hostname).toEndWith('.invalid')
  })
})

describe.concurrent('optional fields', () => {
  test.each<[name: string, body: Record<string, unknown>]>([
    [
      'tools',
      { tools: [{ type: 'function', function: { name: 'f', parameters: {} } }], tool_choice: 'auto' },
    ],
    ['a foreign tool', { tools: [{ type: 'web_search' }], tool_choice: 'required' }],
    ['sampling', { temperature: 2, top_p: 0.1, top_k: 3, seed: 1, logit_bias: { 1: 2 }, stop: ['zzz'] }],
    ['plugins', { plugins: [{ id: 'web', enabled: false }] }],
    ['reasoning', { reasoning: { effort: 'high' }, reasoning_effort: 'high' }],
    [
      'odd values',
      { n: null, max_tokens: null, logprobs: null, response_format: null, tools: null, stop: null },
    ],
    ['audio', { modalities: ['text', 'audio'], audio: { voice: 'a', format: 'wav' } }],
  ])('%s: answers in words', async (_, body) => {
    for (const stream of [false, true]) {
      const response = await ask({ ...body, stream })
      expect(response.status).toBe(200)
      expect(textOf(await eventsOf(response, stream))).toContain('demo')
    }
  })

  test('json_object', async () => {
    const text = textOf(
      await eventsOf(await ask({ response_format: { type: 'json_object' }, stream: true }), true),
    )
    expect(JSON.parse(text)).toEqual({ answer: expect.stringContaining('demo') })
  })

  test('json_schema', async () => {
    const schema = {
      type: 'object',
      properties: {
        city: { type: 'string' },
        degrees: { type: 'integer', minimum: 5 },
        unit: { enum: ['C', 'F'] },
      },
      required: ['city', 'degrees', 'unit'],
      additionalProperties: false,
    }
    const format = { type: 'json_schema', json_schema: { name: 'weather', strict: true, schema } }
    const text = textOf(await eventsOf(await ask({ response_format: format }), false))
    expect(JSON.parse(text)).toEqual({ city: 'demo', degrees: 5, unit: 'C' })
  })

  test.each<[unknown]>([['required'], [{ type: 'function', function: { name: 'weather' } }]])(
    'a tool that is insisted on is called: %j',
    async (choice) => {
      const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
      const tools = [{ type: 'function', function: { name: 'weather', parameters } }]
      for (const stream of [false, true]) {
        const events = await eventsOf(await ask({ tools, tool_choice: choice, stream }), stream)
        const starts = events.flatMap((event) => (event.type === 'tool-call-start' ? [event.name] : []))
        expect(starts).toEqual(['weather'])
        expect(JSON.parse(argumentsOf(events))).toEqual({ city: 'demo' })
        expect(finishOf(events)).toBe('tool_calls')
        expect(textOf(events)).toBe('')
      }
    },
  )

  test('logprobs, one a token, that add up to the text', async () => {
    for (const stream of [false, true]) {
      const events = await eventsOf(await ask({ logprobs: true, top_logprobs: 3, stream }), stream)
      const tokens = events.flatMap((event) =>
        event.type === 'logprobs' && Array.isArray(event.logprobs['content'])
          ? event.logprobs['content']
          : [],
      )
      expect(tokens.map((token) => token.token).join('')).toBe(textOf(events))
      for (const token of tokens) {
        expect(token.logprob).toBeLessThan(0)
        expect(token.top_logprobs).toHaveLength(3)
        expect(new TextDecoder().decode(new Uint8Array(token.bytes))).toBe(token.token)
      }
    }
  })

  test('a bound on tokens truncates, with the finish reason length', async () => {
    for (const body of [{ max_tokens: 3 }, { max_completion_tokens: 3, max_tokens: 99 }]) {
      const events = await eventsOf(await ask(body), false)
      expect(textOf(events).split(' ')).toHaveLength(3)
      expect(finishOf(events)).toBe('length')
    }
  })

  test('a stop sequence ends before itself', async () => {
    const events = await eventsOf(await ask({ stop: ['nowhere', ' demo'] }), false)
    expect(textOf(events)).toBe("This is Sluice's built-in")
    expect(finishOf(events)).toBe('stop')
  })

  test('several choices', async () => {
    for (const stream of [false, true]) {
      const events = await eventsOf(await ask({ n: 3, stream }), stream)
      expect(textOf(events, 2)).toBe(textOf(events, 0))
      expect(textOf(events, 2)).not.toBe('')
      expect(textOf(events, 3)).toBe('')
    }
  })
})

describe.concurrent('a stream', () => {
  test('comes word by word, in under a second', async () => {
    const startedAt = performance.now()
    const response = await ask({ stream: true })
    const arrivals: number[] = []
    for await (const _ of response.body ?? []) arrivals.push(performance.now() - startedAt)
    expect(arrivals.length).toBeGreaterThan(20)
    expect(arrivals.at(-1)).toBeLessThan(1000)
    // Spread out, not all at once: at least half of the planned pace.
    expect((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(200)
  })

  test('is lazy: without a reader nothing is produced', async () => {
    const response = await ask({ stream: true })
    const reader = response.body?.getReader()
    const first = await reader?.read()
    expect(new TextDecoder().decode(first?.value)).toContain('"role":"assistant"')
    await reader?.cancel()
    expect(await reader?.read()).toEqual({ done: true, value: undefined })
  })

  test('a client disconnect while it waits for the next word ends it', async () => {
    const reader = (await ask({ stream: true })).body?.getReader()
    await reader?.read()
    const waiting = reader?.read()
    await reader?.cancel()
    expect((await waiting)?.done).toBe(true)
  })

  test('an abort breaks it with its reason', async () => {
    const controller = new AbortController()
    const reader = (await ask({ stream: true }, controller.signal)).body?.getReader()
    await reader?.read()
    const waiting = reader?.read()
    controller.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
  })

  test('an aborted call is not answered', async () => {
    await expect(ask({}, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
  })
})

describe('a sample of a JSON schema', () => {
  test.each<[schema: unknown, sample: unknown]>([
    [{ type: 'string', minLength: 6 }, 'demo..'],
    [{ type: 'string', maxLength: 2 }, 'de'],
    [{ type: 'string', format: 'date' }, '2026-01-01'],
    [{ type: ['null', 'boolean'] }, true],
    [{ const: 0 }, 0],
    [{ type: 'integer', exclusiveMinimum: 9, multipleOf: 5 }, 10],
    [{ type: 'number', maximum: 0 }, 0],
    [{ type: 'array', items: { type: 'integer' }, minItems: 2 }, [1, 1]],
    [{ type: 'array', maxItems: 0, items: {} }, []],
    [{ $ref: '#/$defs/name', $defs: { name: { enum: ['a'] } } }, 'a'],
    [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, 1],
    [
      { allOf: [{ type: 'object', properties: { a: { const: 1 } } }, { properties: { b: { const: 2 } } }] },
      { a: 1, b: 2 },
    ],
    [{ properties: { a: { type: 'null' } } }, { a: null }],
    [{ type: 'object' }, {}],
  ])('%j', (schema, sample) => expect(sampleOf(schema)).toEqual(sample))

  test('hostile schemas are expanded quickly, and stay small', () => {
    const tree = { type: 'array', minItems: 50, items: { $ref: '#' } }
    const loop = { $ref: '#' }
    const wide = { type: 'array', minItems: 1e9, items: { type: 'string', minLength: 1e9 } }
    const named = (defs: object, items: object) => ({ type: 'array', minItems: 400, items, $defs: defs })
    const constants = named({ a: { const: 'a'.repeat(100_000) } }, { $ref: '#/$defs/a' })
    const long = { [`p${'a'.repeat(100_000)}`]: { type: 'string' } }
    const names = named(
      { a: { type: 'object', properties: long, required: Object.keys(long) } },
      { $ref: '#/$defs/a' },
    )
    const parts = { allOf: Array.from({ length: 200_000 }, () => ({ type: 'object' })) }
    const pointers = named({}, { $ref: `#/${'a/'.repeat(1_000_000)}` })
    for (const schema of [tree, loop, wide, constants, names, parts, pointers])
      expect(JSON.stringify(sampleOf(schema)).length).toBeLessThan(1_000_000)
  })

  test('a name like __proto__ is data', () => {
    const sample = sampleOf(
      JSON.parse('{"type":"object","properties":{"__proto__":{"const":1}},"required":["__proto__"]}'),
    )
    expect(isObject(sample) && Object.keys(sample)).toEqual(['__proto__'])
  })
})
