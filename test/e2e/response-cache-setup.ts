/** A gateway in front of a provider whose every answer is different, with requests that opt in to the response cache. */
import { beforeEach, expect } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { gatewayOfFile, lastRowOf } from '../file-setup.ts'
import { type Answer, startUpstream, streamed, unary } from '../upstream.ts'

/** Opts in to the response cache. */
export const ON = { 'x-openrouter-cache': 'true' }

export async function startForResponseCache() {
  const clock = { now: Date.UTC(2026, 6, 15, 12) }
  const lines: Record<string, unknown>[] = []
  const upstream = startUpstream()
  const gateway = await gatewayOfFile(
    {
      now: () => clock.now,
      log: (line) => lines.push(JSON.parse(line)),
      providers: [
        {
          slug: 'lab',
          name: 'Lab',
          base_url: upstream.baseUrl,
          models: [{ id: 'tiny', pricing: { prompt: '0.000001', completion: '0.000002', request: '0.01' } }],
        },
      ],
    },
    upstream,
  )
  gateway.deps.run.wait = async () => undefined
  /** A different answer to each request. */
  const numbered: Answer = (seen, request) => {
    const text = `Answer ${upstream.seen.length}`
    return (seen.body['stream'] === true ? streamed(text.split(/(?= )/)) : unary(text))(seen, request)
  }
  let turn = 0
  beforeEach(() => {
    upstream.seen.length = 0
    upstream.on('tiny', numbered)
    turn += 1
  })
  return {
    clock,
    numbered,
    lines,
    upstream,
    gateway,
    /** Asks the question of the running test. */
    ask: (headers: Record<string, string> = ON, more: object = {}) =>
      gateway.call(
        '/chat/completions',
        { model: 'tiny', messages: [{ role: 'user', content: `Question ${turn}` }], ...more },
        headers,
      ),
    lastRow: lastRowOf(gateway),
  }
}

export const cacheHeaders = ({ headers }: Response) =>
  ['status', 'age', 'ttl', 'source-id'].map((name) => {
    const value = headers.get(`x-openrouter-cache-${name}`)
    expect(headers.get(`x-service-cache-${name}`)).toBe(value)
    return value
  })

export async function replyOf(response: Response) {
  const reply = objectOf(await response.json())
  const [choice] = Array.isArray(reply['choices']) ? reply['choices'] : []
  return { reply, text: choice?.message?.content, cache: cacheHeaders(response) }
}
