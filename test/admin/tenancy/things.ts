/** How each kind of thing is created in a workspace and removed again. */
import { hashKey } from '../../../src/core/keys.ts'
import { atomically } from '../../../src/db/database.ts'
import { users } from '../../../src/db/tables.ts'
import { objectOf } from '../../../src/http/json.ts'
import type { Place, Received, Thing, World } from './types.ts'

export async function newKeyIn(world: World, workspaceId: string): Promise<string> {
  const made = await world.manage('POST', '/keys', { name: 'of the matrix', workspace_id: workspaceId })
  return String(made['key'])
}

const shared = new WeakMap<Thing, Map<string, Promise<string>>>()
/** One of its kind in the workspace, created on first use: for requests that need one beside the thing that they name. */
export function oneOf(thing: Thing, world: World, place: Place): Promise<string> {
  const made = shared.get(thing) ?? new Map<string, Promise<string>>()
  shared.set(thing, made)
  const known = made.get(place.id) ?? thing.make(world, place)
  made.set(place.id, known)
  return known
}

const idOf = (made: Record<string, unknown>, name = 'id'): string => String(objectOf(made['data'])[name])
let counted = 0
/** A unique slug or name. */
export const fresh = (what: string): string => `${what}-${++counted}`
const uuid = (): string => crypto.randomUUID()
const hex = (digits: number): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(digits / 2))).toString('hex')

/** Throws unless an inference with the key of the place succeeds. */
async function infer(world: World, place: Place, path: string, body: object): Promise<Received> {
  const reply = await world.ask(place.key, { method: 'POST', path, body: { model: 'sluice/demo', ...body } })
  if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${reply.text}`)
  return reply
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
      // Its key and preset are not found after it either.
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
      const reply = await world.ask(place.key, { method: 'POST', path: '/files', body })
      return String(reply.json['id'])
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
  /** The logged prompt and answer of a generation. */
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
  /** A person of the organisation who is a member of the workspace. */
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
    random: () => fresh('user_unknown'),
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
  /** Of the organisation: an invitation that is not accepted yet. */
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
          config: {
            apiKey: 'key-of-the-matrix-0123456789',
            mlApp: 'matrix',
            url: 'https://datadog.invalid',
          },
          workspace_id: place.id,
        }),
      ),
    remove: ({ manage }, id) => manage('DELETE', `/observability/destinations/${id}`),
    random: uuid,
    readAt: (id) => ({ path: `/observability/destinations/${id}`, with: 'management' }),
  },
  /** Of the organisation: a provider, by its slug. */
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
  /** Of the organisation. */
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
  /** Of the organisation: the operator's override of a model. */
  override: {
    async make({ manage }) {
      const made = await manage('PUT', '/models/overrides', { id: 'sluice/demo', name: 'Demo' })
      return idOf(made, 'override_id')
    },
    remove: ({ manage }, id) => manage('DELETE', `/models/overrides/${id}`),
    random: uuid,
  },
} satisfies Record<string, Thing>
