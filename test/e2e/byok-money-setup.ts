/** A provider with a credential of the gateway, and workspaces with BYOK keys for it. */
import { afterEach, beforeEach, expect } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { gatewayOfFile } from '../file-setup.ts'
import type { Gateway } from '../gateway.ts'
import { paced, startUpstream, streamed, unary } from '../upstream.ts'

const SHARED = 'sk-shared-0123456789-gateway'
export const BYOK = 'sk-own-0123456789-canary'
/** 10 prompt tokens and 5 of an answer, at a dollar a million. */
export const COST = 0.000015
const PRICES = { prompt: '0.000001', completion: '0.000001' }

interface Calls {
  /** The status with which the provider rejects the BYOK key. */
  refused: number | null
  /** Called while the provider answers. */
  during: () => void
  /** The keys that were used for the last request. */
  used: ('byok' | 'shared')[]
}

function startProvider(calls: Calls) {
  const upstream = startUpstream()
  upstream.on('cut', () =>
    paced([
      'data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Half an answer"}}]}\n\n',
    ]),
  )
  upstream.on('vector', () =>
    Response.json({
      object: 'list',
      model: 'vector',
      data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }],
      usage: { prompt_tokens: 15, total_tokens: 15 },
    }),
  )
  beforeEach(() => {
    upstream.on('tiny', async (seen, request) => {
      const isByok = seen.headers.get('authorization') === `Bearer ${BYOK}`
      calls.used.push(isByok ? 'byok' : 'shared')
      calls.during()
      if (calls.refused !== null && isByok) {
        return Response.json({ error: { message: 'no' } }, { status: calls.refused })
      }
      if (seen.body['stream'] !== true) return unary('Yes.')(seen, request)
      return streamed(['Yes', '.'])(seen, request)
    })
  })
  return upstream
}

export const dataOf = async (pending: Promise<Response>): Promise<Record<string, unknown>> => {
  const body = objectOf(await (await pending).json())
  expect(body).not.toHaveProperty('error')
  return objectOf(body['data'])
}

/** Makes workspaces, and asks with their keys. */
function actionsOf(gateway: Gateway, calls: Calls) {
  let made = 0
  return {
    /** A workspace with an API key, and with a BYOK key unless that is null. */
    async space(byok: object | null, key: object = {}) {
      const slug = `space-${made++}`
      const workspace = String(
        (await dataOf(gateway.manage('POST', '/workspaces', { name: slug, slug })))['id'],
      )
      const api = await gateway.makeKey({ workspace_id: workspace, ...key })
      let id = ''
      if (byok !== null) {
        const body = { provider: 'one', key: BYOK, workspace_id: workspace, ...byok }
        id = String((await dataOf(gateway.manage('POST', '/byok', body)))['id'])
      }
      return { ...api, workspace, slug, id }
    },
    async ask(key: string, more: object = {}, path = '/chat/completions') {
      calls.used = []
      const headers = { authorization: `Bearer ${key}`, 'x-service-metadata': 'enabled' }
      const body = { model: 'tiny', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }], ...more }
      const reply = await gateway.call(path, body, headers)
      const text = await reply.text()
      const id = reply.headers.get('x-generation-id') ?? ''
      return { status: reply.status, text, id, used: [...calls.used] }
    },
    currentKey: (key: string): Promise<Record<string, unknown>> =>
      dataOf(gateway.call('/key', undefined, { authorization: `Bearer ${key}` })),
  }
}

export async function startForByokMoney() {
  const calls: Calls = { refused: null, during: () => undefined, used: [] }
  const upstream = startProvider(calls)
  const limits = { context_length: 1000, max_completion_tokens: 100, pricing: PRICES }
  const gateway = await gatewayOfFile(
    {
      providers: [
        {
          slug: 'one',
          base_url: upstream.baseUrl,
          api_key: SHARED,
          models: [
            { id: 'tiny', ...limits },
            { id: 'cut', ...limits },
            { id: 'long', ...limits, context_length: 20_000, max_completion_tokens: 10_000 },
            { id: 'vector', ...limits, architecture: { output_modalities: ['embeddings'] } },
          ],
        },
      ],
    },
    upstream,
  )
  afterEach(() => {
    calls.refused = null
    calls.during = () => undefined
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  })
  return { upstream, gateway, calls, ...actionsOf(gateway, calls) }
}
