/** Gemini with `cache_control`: a scripted Google that counts tokens and keeps caches. The clock is the test's. */
import { beforeEach, expect } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { gatewayOfFile } from '../file-setup.ts'
import type { Gateway } from '../gateway.ts'
import { startGoogle, tokensIn } from './fake-google.ts'

export const PRICES = {
  prompt: '0.000001',
  completion: '0.000002',
  input_cache_read: '0.0000001',
  input_cache_write: '0.0000013',
}
export const MINUTE_MS = 60_000

/** The tokens of the system message of each test. */
export const CACHED = 2_000
const ASKED = 'When is low tide?'
export const QUESTION = tokensIn({ text: ASKED })
/** Written and read, then the question and two tokens of answer. */
export const FIRST_NANO_USD = CACHED * 1_300 + CACHED * 100 + QUESTION * 1_000 + 2 * 2_000
export const NEXT_NANO_USD = CACHED * 100 + QUESTION * 1_000 + 2 * 2_000

export const marked = (text: string, ttl?: string) => ({
  type: 'text',
  text,
  cache_control: { type: 'ephemeral', ...(ttl ? { ttl } : {}) },
})

export interface Asked {
  messages?: object[]
  model?: string
  key?: string
  stream?: boolean
  more?: object
}

/** Asks with a marked system message, unless there are others; returns what the usage says. */
async function ask(gateway: Gateway, system: string, asked: Asked) {
  const { model = 'lab', key, stream = false, more = {} } = asked
  const messages = asked.messages ?? [
    { role: 'system', content: [marked(system)] },
    { role: 'user', content: ASKED },
  ]
  const response = await gateway.call(
    '/chat/completions',
    { model, stream, messages, ...more },
    { 'x-openrouter-metadata': 'enabled', ...(key ? { authorization: `Bearer ${key}` } : {}) },
  )
  const text = await response.text()
  const reply = stream ? lastOf(text) : objectOf(JSON.parse(text))
  const usage = objectOf(reply['usage'])
  const { cached_tokens: read, cache_write_tokens: written } = objectOf(usage['prompt_tokens_details'])
  const dropped = JSON.stringify(reply['openrouter_metadata'] ?? reply['service_metadata'] ?? {})
  return {
    status: response.status,
    prompt: Number(usage['prompt_tokens']),
    read: Number(read),
    written: Number(written),
    nanoUsd: Math.round(Number(usage['cost']) * 1e9),
    namesMark: dropped.includes('cache_control'),
  }
}

/** The last chunk with usage. */
function lastOf(text: string): Record<string, unknown> {
  const chunks = text.split('\n').filter((line) => line.startsWith('data: {') && line.includes('"usage"'))
  return objectOf(JSON.parse(String(chunks.at(-1)?.slice('data: '.length))))
}

export async function startForContextCache() {
  const google = startGoogle()
  const entry = (slug: string, pricing: object) => ({
    slug,
    dialect: 'gemini',
    base_url: google.baseUrl,
    api_key: `secret-of-${slug}`,
    models: [{ id: slug, upstream_id: 'gemini-3-tides', pricing }],
  })
  const { input_cache_write: _, ...withoutWriting } = PRICES
  /** The clock, and the system message of the running test, which is 2,000 tokens long and its own. */
  const state = { now: Date.UTC(2026, 6, 15, 12), system: '', number: 0 }
  const gateway = await gatewayOfFile(
    { now: () => state.now, providers: [entry('lab', PRICES), entry('plain', withoutWriting)] },
    google,
  )
  beforeEach(() => {
    state.number += 1
    state.now += 60 * MINUTE_MS
    state.system = `Test ${state.number}. ${'The tides of Brest. '.repeat(500)}`.slice(0, 8_000)
    google.seen.length = 0
    google.refuse = undefined
    google.answer = undefined
  })
  const askOnce = (asked: Asked = {}) => ask(gateway, state.system, asked)
  /** The caches that were made. No request waits for them; tests do. */
  const made = async () => {
    await gateway.deps.run.contexts?.whenIdle()
    return google.made()
  }
  return {
    google,
    gateway,
    state,
    ask: askOnce,
    made,
    /** The first two requests with a prefix, after which it is cached. */
    async askTwice(asked: Asked = {}) {
      for (let i = 0; i < 2; i++) {
        expect(await askOnce(asked)).toMatchObject({ status: 200, read: 0, written: 0 })
      }
      return made()
    },
  }
}
