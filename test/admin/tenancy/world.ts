/** Starts two workspaces with keys of every kind. */
import { createApp } from '../../../src/app.ts'
import { hashKey } from '../../../src/core/keys.ts'
import { objectOf } from '../../../src/http/json.ts'
import { API_KEY, type GatewayOptions, MANAGEMENT_KEY, startGateway } from '../../gateway.ts'
import { type Browser, join } from '../people.ts'
import { newKeyIn, things } from './things.ts'
import type { Ask, Received, World } from './types.ts'

const NOW = Date.UTC(2026, 6, 15, 12)

export async function startWorld(options: GatewayOptions = {}): Promise<World> {
  // The clock does not move, so that an allowance would never be refilled.
  const environment = { SLUICE_ADMIN_RATE_LIMIT: '0' }
  const gateway = await startGateway({ now: () => NOW, environment, ...options })
  const handler = createApp(gateway.deps)
  const ask = async (caller: string | Browser | null, { method, path, body }: Ask): Promise<Received> => {
    const isForm = body instanceof FormData
    const headers = {
      host: 'localhost',
      ...credentialsOf(caller),
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
    }
    const sent = isForm ? body : body === undefined ? null : JSON.stringify(body)
    const request = new Request(`http://localhost/api/v1${path}`, { method, headers, body: sent })
    const response = await handler(request)
    const text = await response.text()
    return { status: response.status, text, json: parsed(text), headers: response.headers }
  }
  const manage = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const reply = await ask(MANAGEMENT_KEY, { method, path, body })
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
    return reply.json
  }
  const person = await join(() => handler, 'member@sluice.example')
  await manage('POST', '/workspaces/default/members/add', { user_ids: [person.id] })
  const workspaces = await manage('GET', '/workspaces')
  const [first] = Array.isArray(workspaces['data']) ? workspaces['data'] : []
  const world: World = {
    gateway,
    handler,
    own: { id: String(objectOf(first)['id']), key: API_KEY },
    foreign: { id: '', key: '' },
    disabledKey: '',
    admin: (await join(() => handler, 'admin@sluice.example', 'org:admin')).browser,
    member: person.browser,
    ask,
    manage,
  }
  await manage('PUT', `/workspaces/${world.own.id}/budgets/daily`, { limit_usd: 5 })
  const foreign = await things.workspace.make(world, world.own)
  world.foreign = { id: foreign, key: await newKeyIn(world, foreign) }
  world.disabledKey = await newKeyIn(world, world.own.id)
  await manage('PATCH', `/keys/${hashKey(world.disabledKey)}`, { disabled: true })
  return world
}

function credentialsOf(caller: string | Browser | null): Record<string, string> {
  if (caller === null) return {}
  if (typeof caller === 'string') return { authorization: `Bearer ${caller}` }
  const cookie = [...caller.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  return { cookie, 'sec-fetch-site': 'same-origin' }
}

function parsed(text: string): Record<string, unknown> {
  try {
    return objectOf(JSON.parse(text))
  } catch {
    return {}
  }
}
