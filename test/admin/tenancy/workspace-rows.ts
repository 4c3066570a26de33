/** Workspaces, guardrails, keys and BYOK keys. */
import { ORGANISATION, type Row, row, WORKSPACE } from './row.ts'
import { fresh, oneOf, things } from './things.ts'
import type { Place, Thing, World } from './types.ts'

const { workspace, key, guardrail, member, byok } = things

const workspaces: Row[] = [
  row('get /workspaces/{id}', 'path id', workspace, '/workspaces/{}', { keys: 'any' }),
  row('patch /workspaces/{id}', 'path id', workspace, '/workspaces/{}', { body: { description: 'Changed' } }),
  row('delete /workspaces/{id}', 'path id', workspace, '/workspaces/{}'),
  row('get /workspaces/{id}/members', 'path id', workspace, '/workspaces/{}/members'),
  row('post /workspaces/{id}/members/add', 'path id', workspace, async (id, world, place) => ({
    path: `/workspaces/${id}/members/add`,
    body: { user_ids: [await oneOf(member, world, place)] },
  })),
  row('post /workspaces/{id}/members/remove', 'path id', workspace, async (id, world, place) => ({
    path: `/workspaces/${id}/members/remove`,
    body: { user_ids: [await oneOf(member, world, place)] },
  })),
  row('get /workspaces/{id}/budgets', 'path id', workspace, '/workspaces/{}/budgets'),
  row('get /workspaces/{id}/budgets/{interval}', 'path id', workspace, '/workspaces/{}/budgets/daily'),
  row('put /workspaces/{id}/budgets/{interval}', 'path id', workspace, '/workspaces/{}/budgets/daily', {
    body: { limit_usd: 4 },
  }),
  row('delete /workspaces/{id}/budgets/{interval}', 'path id', workspace, '/workspaces/{}/budgets/weekly'),
  ...['add', 'remove'].map((verb) =>
    row(`post /workspaces/{id}/members/${verb}`, 'body user_ids', member, (id, _, place) => ({
      path: `/workspaces/${place.id}/members/${verb}`,
      body: { user_ids: [id] },
    })),
  ),
  ...(['post', 'patch'] as const).map((method) =>
    row(
      `${method} /workspaces${method === 'post' ? '' : '/{id}'}`,
      'body io_logging_api_key_ids',
      numbered(),
      (id, _, place) => ({
        path: method === 'post' ? '/workspaces' : `/workspaces/${place.id}`,
        body: {
          ...(method === 'post' ? { name: 'Logged', slug: fresh('logged') } : {}),
          io_logging_api_key_ids: [Number(id)],
        },
      }),
    ),
  ),
]

/** Keys by the whole number that they have beside their hash. */
function numbered(): Thing {
  const hashes = new Map<string, string>()
  return {
    async make(world, place) {
      const hash = await key.make(world, place)
      const { data } = await world.manage('GET', `/keys/${hash}`)
      const id = String(Object(data)['id'])
      hashes.set(id, hash)
      return id
    },
    remove: ({ manage }, id) => manage('DELETE', `/keys/${hashes.get(id)}`),
    random: () => '999999999',
  }
}

const guardrails: Row[] = [
  row('get /guardrails', 'query workspace_id', workspace, '/guardrails?workspace_id={}', { missing: 200 }),
  row('post /guardrails', 'body workspace_id', workspace, (id) => ({
    path: '/guardrails',
    body: { name: 'Made', workspace_id: id },
  })),
  row('get /guardrails/{id}', 'path id', guardrail, '/guardrails/{}'),
  row('patch /guardrails/{id}', 'path id', guardrail, '/guardrails/{}', { body: { description: 'Changed' } }),
  row('delete /guardrails/{id}', 'path id', guardrail, '/guardrails/{}'),
  ...['keys', 'members'].flatMap((what) => {
    const path = `/guardrails/{}/assignments/${what}`
    const operation = `/guardrails/{id}/assignments/${what}`
    const field = what === 'keys' ? 'key_hashes' : 'member_user_ids'
    const thing = what === 'keys' ? key : member
    // In the workspace of the guardrail.
    const named = async (world: World, place: Place) => ({ [field]: [await oneOf(thing, world, place)] })
    return [
      row(`get ${operation}`, 'path id', guardrail, path),
      row(`post ${operation}`, 'path id', guardrail, async (id, world, place) => ({
        path: path.replace('{}', id),
        body: await named(world, place),
      })),
      row(`post ${operation}/remove`, 'path id', guardrail, async (id, world, place) => ({
        path: `${path.replace('{}', id)}/remove`,
        body: await named(world, place),
      })),
      row(
        `post ${operation}`,
        `body ${field}`,
        thing,
        async (id, world, place) => ({
          path: path.replace('{}', await oneOf(guardrail, world, place)),
          body: { [field]: [id] },
        }),
        // A guardrail of one workspace does not take a key of another; members are of the organisation.
        what === 'keys' ? { management: WORKSPACE, misplaced: 400 } : {},
      ),
      row(
        `post ${operation}/remove`,
        `body ${field}`,
        thing,
        async (id, world, place) => ({
          path: `${path.replace('{}', await oneOf(guardrail, world, place))}/remove`,
          body: { [field]: [id] },
        }),
        // A thing that is not assigned is ignored.
        { missing: 200 },
      ),
    ]
  }),
]

const keys: Row[] = [
  row('get /keys', 'query workspace_id', workspace, '/keys?include_disabled=true&workspace_id={}', {
    missing: 200,
  }),
  row('post /keys', 'body workspace_id', workspace, (id) => ({
    path: '/keys',
    body: { name: 'Made', workspace_id: id },
  })),
  row('post /keys', 'body creator_user_id', member, (id) => ({
    path: '/keys',
    body: { name: 'Made', creator_user_id: id },
  })),
  row('get /keys/{hash}', 'path hash', key, '/keys/{}'),
  row('patch /keys/{hash}', 'path hash', key, '/keys/{}', { body: { limit: 3 } }),
  row('delete /keys/{hash}', 'path hash', key, '/keys/{}'),
]

const PROVIDER_KEY = { provider: 'openai', key: 'sk-of-the-matrix-0123456789' }
const byokKeys: Row[] = [
  row('get /byok', 'query workspace_id', workspace, '/byok?workspace_id={}'),
  row('post /byok', 'body workspace_id', workspace, (id) => ({
    path: '/byok',
    body: { ...PROVIDER_KEY, workspace_id: id },
  })),
  row('get /byok/{id}', 'path id', byok, '/byok/{}'),
  row('patch /byok/{id}', 'path id', byok, '/byok/{}', { body: { name: 'Changed' } }),
  row('delete /byok/{id}', 'path id', byok, '/byok/{}'),
  ...(['post', 'patch'] as const).flatMap((method) =>
    (
      [
        ['allowed_api_key_hashes', key, WORKSPACE],
        ['allowed_user_ids', member, ORGANISATION],
      ] as const
    ).map(([field, thing, management]) =>
      row(
        `${method} /byok${method === 'post' ? '' : '/{id}'}`,
        `body ${field}`,
        thing,
        async (id, world) => ({
          path: method === 'post' ? '/byok' : `/byok/${await oneOf(byok, world, world.own)}`,
          body: { ...(method === 'post' ? PROVIDER_KEY : {}), [field]: [id] },
        }),
        { management },
      ),
    ),
  ),
]

export const workspaceRows: readonly Row[] = [...workspaces, ...guardrails, ...keys, ...byokKeys]
