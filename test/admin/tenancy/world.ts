/** Two workspaces with keys of every kind, and how each kind of thing is made in one and taken away again. */
import { createApp } from '../../../src/app.ts'
import { hashKey } from '../../../src/core/keys.ts'
import { atomically } from '../../../src/db/database.ts'
import { users } from '../../../src/db/tables.ts'
import type { Handler } from '../../../src/http/edge.ts'
import { objectOf } from '../../../src/http/json.ts'
import { API_KEY, type Gateway, type GatewayOptions, MANAGEMENT_KEY, startGateway } from '../../gateway.ts'
import { type Browser, join } from '../people.ts'

export interface Ask {
  method: string
  /** Below `/api/v1`. */
  path: string
  body?: unknown
}
export interface Told {
  status: number
  text: string
  json: Record<string, unknown>
  headers: Headers
}

/** Where a thing is: the workspace, and an inference key of it. */
export interface Place {
  id: string
  key: string
}

export interface World {
  gateway: Gateway
  handler: Handler
  /** The default workspace: of the first inference key and of the management key. */
  own: Place
  foreign: Place
  /** An inference key of `own` that is disabled. */
  disabledKey: string
  /** Somebody with a session: an administrator, and a member of `own` alone. */
  admin: Browser
  member: Browser
  /** With a key, with a session, or with nothing. */
  ask(caller: string | Browser | null, ask: Ask): Promise<Told>
  /** With the management key; throws unless it succeeds. */
  manage(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>
}

/** A kind of thing that operations name. */
export interface Thing {
  make(world: World, place: Place): Promise<string>
  /** Makes it a thing that was; absent where nothing takes it away. */
  remove?(world: World, id: string, place: Place): Promise<unknown>
  /** An id of the same form that never was. */
  random(): string
  /** Where it is read; with the management key, or with the key of its place. */
  readAt?(id: string, place: Place): { path: string; with: 'management' | 'inference' }
}

const NOW = Date.UTC(2026, 6, 15, 12)

export async function startWorld(options: GatewayOptions = {}): Promise<World> {
  // The clock stands, so that an allowance would never fill up again.
  const environment = { SLUICE_ADMIN_RATE_LIMIT: '0' }
  const gateway = await startGateway({ now: () => NOW, environment, ...options })
  const handler = createApp(gateway.deps)
  const ask = async (caller: string | Browser | null, { method, path, body }: Ask): Promise<Told> => {
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
    const told = await ask(MANAGEMENT_KEY, { method, path, body })
    if (told.status >= 300) throw new Error(`${method} ${path}: ${told.status} ${told.text}`)
    return told.json
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

async function newKeyIn(world: World, workspaceId: string): Promise<string> {
  const made = await world.manage('POST', '/keys', { name: 'of the matrix', workspace_id: workspaceId })
  return String(made['key'])
}

const shared = new WeakMap<Thing, Map<string, Promise<string>>>()
/** One of its kind in the workspace, made when it is asked for first: for requests that need one beside what they name. */
export function oneOf(thing: Thing, world: World, place: Place): Promise<string> {
  const made = shared.get(thing) ?? new Map<string, Promise<string>>()
  shared.set(thing, made)
  const known = made.get(place.id) ?? thing.make(world, place)
  made.set(place.id, known)
  return known
}

const idOf = (made: Record<string, unknown>, name = 'id'): string => String(objectOf(made['data'])[name])
let counted = 0
/** A slug or name that nothing else has. */
export const fresh = (what: string): string => `${what}-${++counted}`
const uuid = (): string => crypto.randomUUID()
const hex = (digits: number): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(digits / 2))).toString('hex')

/** Throws unless an inference with the key of the place succeeds. */
async function infer(world: World, place: Place, path: string, body: object): Promise<Told> {
  const told = await world.ask(place.key, { method: 'POST', path, body: { model: 'sluice/demo', ...body } })
  if (told.status !== 200) throw new Error(`${path}: ${told.status} ${told.text}`)
  return told
}

async function generate(world: World, place: Place): Promise<string> {
  const messages = [{ role: 'user', content: 'Hi' }]
  return String((await infer(world, place, '/chat/completions', { messages })).json['id'])
}

export const things = {
  workspace: {
    async make({ manage }, _place) {
      const slug = fresh('workspace')
      const id = idOf(await manage('POST', '/workspaces', { name: slug, slug }))
      await manage('PUT', `/workspaces/${id}/budgets/daily`, { limit_usd: 5 })
      return id
    },
    async remove(world, id) {
      // What it leaves behind is found no more either.
      const key = hashKey(await newKeyIn(world, id))
      await world.manage('PATCH', `/keys/${key}`, { disabled: true })
      await things.preset.make(world, { id, key: '' })
      await world.manage('DELETE', `/workspaces/${id}`)
    },
    random: uuid,
    readAt: (id) => ({ path: `/workspaces/${id}`, with: 'management' }),
  },
  key: {
    make: async (world, place) => hashKey(await newKeyIn(world, place.id)),
    remove: ({ manage }, id) => manage('DELETE', `/keys/${id}`),
    random: () => hex(64),
    readAt: (id) => ({ path: `/keys/${id}`, with: 'management' }),
  },
  guardrail: {
    make: async ({ manage }, place) =>
      idOf(await manage('POST', '/guardrails', { name: fresh('guardrail'), workspace_id: place.id })),
    remove: ({ manage }, id) => manage('DELETE', `/guardrails/${id}`),
    random: uuid,
    readAt: (id) => ({ path: `/guardrails/${id}`, with: 'management' }),
  },
  preset: {
    async make({ manage }, place) {
      const slug = fresh('preset')
      await manage('POST', `/presets/${slug}/chat/completions?workspace_id=${place.id}`, {
        model: 'sluice/demo',
      })
      return slug
    },
    random: () => fresh('no-preset'),
    readAt: (slug, { id }) => ({ path: `/presets/${slug}/versions?workspace_id=${id}`, with: 'management' }),
  },
  file: {
    async make(world, place) {
      const body = new FormData()
      body.append('file', new Blob(['Tides are slow.']), 'tides.txt')
      const told = await world.ask(place.key, { method: 'POST', path: '/files', body })
      return String(told.json['id'])
    },
    remove: ({ manage }, id, place) => manage('DELETE', `/files/${id}?workspace_id=${place.id}`),
    random: () => `file_${hex(32)}`,
    readAt: (id) => ({ path: `/files/${id}/content`, with: 'inference' }),
  },
  generation: {
    make: generate,
    random: () => `gen-${hex(32)}`,
    readAt: (id) => ({ path: `/generation?id=${id}`, with: 'inference' }),
  },
  /** What was asked and answered in a generation, logged. */
  content: {
    async make(world, place) {
      await world.manage('PATCH', `/workspaces/${place.id}`, {
        is_observability_io_logging_enabled: true,
        io_logging_api_key_ids: null,
      })
      return generate(world, place)
    },
    random: () => `gen-${hex(32)}`,
    readAt: (id) => ({ path: `/generation/content?id=${id}`, with: 'inference' }),
  },
  response: {
    make: async (world, place) =>
      String((await infer(world, place, '/responses', { input: 'Hi', store: true })).json['id']),
    remove: (world, id, place) => world.ask(place.key, { method: 'DELETE', path: `/responses/${id}` }),
    random: () => `resp_${hex(32)}`,
    readAt: (id) => ({ path: `/responses/${id}`, with: 'inference' }),
  },
  /** Somebody of the organisation who is a member of the workspace. */
  member: {
    async make({ gateway, manage }, place) {
      const id = fresh('user')
      const organization_id = gateway.deps.snapshot.current().organizationId
      await atomically(gateway.database, (tx) => [
        tx.insert(users).values({ id, organization_id, name: id, role: 'member' }),
      ])
      await manage('POST', `/workspaces/${place.id}/members/add`, { user_ids: [id] })
      return id
    },
    remove: ({ manage }, id) => manage('DELETE', `/organization/members/${id}`),
    random: () => fresh('user_nobody'),
  },
  byok: {
    make: async ({ manage }, place) =>
      idOf(
        await manage('POST', '/byok', {
          provider: 'openai',
          key: 'sk-of-the-matrix-0123456789',
          workspace_id: place.id,
        }),
      ),
    remove: ({ manage }, id) => manage('DELETE', `/byok/${id}`),
    random: uuid,
    readAt: (id) => ({ path: `/byok/${id}`, with: 'management' }),
  },
  /** Of the whole organisation: somebody who has not accepted yet. */
  invitation: {
    make: async ({ manage }) =>
      idOf(await manage('POST', '/organization/invitations', { email: `${fresh('guest')}@example.org` })),
    remove: ({ manage }, id) => manage('DELETE', `/organization/invitations/${id}`),
    random: uuid,
  },
  destination: {
    make: async ({ manage }, place) =>
      idOf(
        await manage('POST', '/observability/destinations', {
          name: fresh('destination'),
          type: 'datadog',
          config: { apiKey: 'key-of-the-matrix-0123456789', mlApp: 'matrix' },
          workspace_id: place.id,
        }),
      ),
    remove: ({ manage }, id) => manage('DELETE', `/observability/destinations/${id}`),
    random: uuid,
    readAt: (id) => ({ path: `/observability/destinations/${id}`, with: 'management' }),
  },
  /** Of the whole organisation: a provider, by its slug. */
  provider: {
    async make({ manage }) {
      const slug = fresh('lab')
      const entry = { slug, base_url: 'http://127.0.0.1:9/v1', models: [{ id: `of-${slug}` }] }
      await manage('POST', '/providers/entries', entry)
      return slug
    },
    remove: ({ manage }, slug) => manage('DELETE', `/providers/entries/${slug}`),
    random: () => fresh('no-lab'),
    readAt: (slug) => ({ path: `/providers/entries/${slug}`, with: 'management' }),
  },
  /** Of the whole organisation. */
  credential: {
    make: async ({ manage }) =>
      idOf(
        await manage('POST', '/providers/credentials', {
          provider: 'openai',
          credential: fresh('sk-of-the-matrix-0123456789'),
        }),
      ),
    remove: ({ manage }, id) => manage('DELETE', `/providers/credentials/${id}`),
    random: uuid,
  },
  /** Of the whole organisation: what the operator says of a model. */
  override: {
    async make({ manage }) {
      const made = await manage('PUT', '/models/overrides', { id: 'sluice/demo', name: 'Demo' })
      return idOf(made, 'override_id')
    },
    remove: ({ manage }, id) => manage('DELETE', `/models/overrides/${id}`),
    random: uuid,
  },
} satisfies Record<string, Thing>
