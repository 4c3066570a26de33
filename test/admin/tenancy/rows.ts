/**
 * One row for each place of an operation where an identifier stands. A new operation with an identifier needs a row
 * here, or a place in `not-identifiers.ts` with the reason.
 */
import { type Ask, fresh, oneOf, type Place, type Thing, things, type World } from './world.ts'

/** Whose the named thing is, or that there is none. */
export type State = 'own' | 'foreign' | 'deleted' | 'random'

export interface Row {
  /** As in the API document: `get /keys/{hash}`. */
  operation: string
  /** `path hash`, `query workspace_id`, `body user_ids`. */
  at: string
  thing: Thing
  /** Which keys may call it. */
  keys: 'any' | 'management' | 'inference'
  /** Which things a management key finds; all others are missing. Inference keys find those of their workspace. */
  management?: readonly State[]
  /** The status of what is found; default: a success. */
  found?: number
  /** The status of what is missing; default 404. */
  missing?: number
  /** The status of a thing of another workspace, for a management key, where it is neither found nor missing. */
  misplaced?: number
  /** The request that names the thing; `place` is where the caller of a management key works. */
  ask(id: string, world: World, place: Place): Omit<Ask, 'method'> | Promise<Omit<Ask, 'method'>>
}

/** A management key administers the organisation: things of all its workspaces. */
const ORGANISATION: readonly State[] = ['own', 'foreign']
/** It works in its default workspace, unless another one is named. */
const WORKSPACE: readonly State[] = ['own']
/** What is gone is still in the record. */
const HISTORY: readonly State[] = ['own', 'foreign', 'deleted']

type Asked = Row['ask'] | string
type More = Partial<Omit<Row, 'ask'>> & { body?: unknown }

/** A path of `{}` for the identifier. */
function row(operation: string, at: string, thing: Thing, ask: Asked, { body, ...more }: More = {}): Row {
  const asked: Row['ask'] =
    typeof ask === 'function'
      ? ask
      : (id) => ({ path: ask.replace('{}', id), ...(body === undefined ? {} : { body }) })
  return { operation, at, thing, keys: 'management', management: ORGANISATION, ...more, ask: asked }
}

const {
  workspace,
  key,
  guardrail,
  preset,
  file,
  content,
  generation,
  response,
  member,
  override,
  byok,
  destination,
  invitation,
  provider,
  credential,
} = things
const CHAT = { model: 'sluice/demo', messages: [{ role: 'user', content: 'Hi' }] }

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
    // Of the workspace that the guardrail is of.
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
        // Who is not assigned is passed over, whoever it is.
        { missing: 200 },
      ),
    ]
  }),
]

const ofWorkspace = { keys: 'any', management: WORKSPACE } as const

const presets: Row[] = [
  row('get /presets', 'query workspace_id', workspace, '/presets?workspace_id={}', { keys: 'any' }),
  ...(
    [
      ['get', '/presets/{slug}', ''],
      ['get', '/presets/{slug}/versions', '/versions'],
      ['get', '/presets/{slug}/versions/{version}', '/versions/1'],
    ] as const
  ).flatMap(([method, path, end]) => [
    row(`${method} ${path}`, 'path slug', preset, `/presets/{}${end}`, ofWorkspace),
    row(
      `${method} ${path}`,
      'query workspace_id',
      workspace,
      inNamed((slug) => `/presets/${slug}${end}`),
      {
        keys: 'any',
      },
    ),
  ]),
  row('patch /presets/{slug}', 'path slug', preset, '/presets/{}', {
    management: WORKSPACE,
    body: { description: 'Changed' },
  }),
  row('patch /presets/{slug}', 'query workspace_id', workspace, async (id, world) => ({
    ...(await inNamed((slug) => `/presets/${slug}`)(id, world)),
    body: { description: 'Changed' },
  })),
  ...(
    [
      ['chat/completions', { temperature: 0.1 }],
      ['responses', { temperature: 0.1 }],
      ['messages', { model: 'sluice/demo', max_tokens: 9, temperature: 0.1 }],
    ] as const
  ).flatMap(([end, body]) => [
    // Whoever names a slug that is not there makes it: in the caller's own workspace, whatever others have.
    row(`post /presets/{slug}/${end}`, 'path slug', { ...preset }, `/presets/{}/${end}`, {
      management: WORKSPACE,
      missing: 200,
      body,
    }),
    row(`post /presets/{slug}/${end}`, 'query workspace_id', workspace, (id) => ({
      path: `/presets/${fresh('made')}/${end}?workspace_id=${id}`,
      body,
    })),
  ]),
]

/** Where the workspace is there, a preset of it. */
function inNamed(pathOf: (slug: string) => string) {
  return async (id: string, world: World): Promise<{ path: string }> => {
    const isThere = world.gateway.deps.snapshot.current().workspacesById.has(id)
    const slug = isThere ? await oneOf(preset, world, { id, key: '' }) : 'any'
    return { path: `${pathOf(slug)}?workspace_id=${id}` }
  }
}

const form = (): FormData => {
  const data = new FormData()
  data.append('file', new Blob(['Tides.']), 'a.txt')
  return data
}
const fileIn =
  (end: string): Row['ask'] =>
  async (id, world) => {
    const isThere = world.gateway.deps.snapshot.current().workspacesById.has(id)
    const fileId = isThere ? await uploaded(world, id) : file.random()
    return { path: `/files/${fileId}${end}?workspace_id=${id}` }
  }
async function uploaded(world: World, workspaceId: string): Promise<string> {
  return String((await world.manage('POST', `/files?workspace_id=${workspaceId}`, form()))['id'])
}

const files: Row[] = [
  row(
    'post /files',
    'query workspace_id',
    workspace,
    (id) => ({ path: `/files?workspace_id=${id}`, body: form() }),
    {
      keys: 'any',
    },
  ),
  row('get /files', 'query workspace_id', workspace, '/files?workspace_id={}', { keys: 'any' }),
  ...(['get', 'delete'] as const).flatMap((method) => [
    row(`${method} /files/{file_id}`, 'path file_id', file, '/files/{}', ofWorkspace),
    row(`${method} /files/{file_id}`, 'query workspace_id', workspace, fileIn(''), { keys: 'any' }),
  ]),
  row('get /files/{file_id}/content', 'path file_id', file, '/files/{}/content', ofWorkspace),
  row('get /files/{file_id}/content', 'query workspace_id', workspace, fileIn('/content'), { keys: 'any' }),
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

/** In the workspace of the one who is asked for it. */
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

const DESTINATION = '/observability/destinations'
const destinations: Row[] = [
  row(`get ${DESTINATION}`, 'query workspace_id', workspace, `${DESTINATION}?workspace_id={}`, {
    missing: 200,
  }),
  row(`post ${DESTINATION}`, 'body workspace_id', workspace, (id) => ({
    path: DESTINATION,
    body: newDestination({ workspace_id: id }),
  })),
  row(
    `post ${DESTINATION}`,
    'body api_key_hashes',
    key,
    (id) => ({
      path: DESTINATION,
      body: newDestination({ api_key_hashes: [id] }),
    }),
    { management: WORKSPACE },
  ),
  row(`get ${DESTINATION}/{id}`, 'path id', destination, `${DESTINATION}/{}`),
  row(`patch ${DESTINATION}/{id}`, 'path id', destination, `${DESTINATION}/{}`, { body: { enabled: false } }),
  row(
    `patch ${DESTINATION}/{id}`,
    'body api_key_hashes',
    key,
    async (id, world) => ({
      path: `${DESTINATION}/${await oneOf(destination, world, world.own)}`,
      body: { api_key_hashes: [id] },
    }),
    { management: WORKSPACE },
  ),
  row(`delete ${DESTINATION}/{id}`, 'path id', destination, `${DESTINATION}/{}`),
  // Nothing is delivered to this type: no test event leaves.
  row(`post ${DESTINATION}/{id}/test`, 'path id', destination, `${DESTINATION}/{}/test`, { found: 400 }),
]
function newDestination(more: object) {
  return {
    name: fresh('made'),
    type: 'datadog',
    config: { apiKey: 'key-of-the-matrix', mlApp: 'a' },
    ...more,
  }
}

const providers: Row[] = [
  row('get /providers/entries/{slug}', 'path slug', provider, '/providers/entries/{}'),
  row('patch /providers/entries/{slug}', 'path slug', provider, '/providers/entries/{}', {
    body: { name: 'Changed' },
  }),
  row('delete /providers/entries/{slug}', 'path slug', provider, '/providers/entries/{}'),
  row('post /providers/configured/{slug}/test', 'path slug', provider, '/providers/configured/{}/test'),
  row('patch /providers/credentials/{id}', 'path id', credential, '/providers/credentials/{}', {
    body: { name: 'Changed' },
  }),
  row('delete /providers/credentials/{id}', 'path id', credential, '/providers/credentials/{}'),
]

const records: Row[] = [
  row('get /generation', 'query id', generation, '/generation?id={}', { keys: 'any' }),
  row('get /generation/content', 'query id', content, '/generation/content?id={}', { keys: 'any' }),
  row(
    'post /generation/feedback',
    'body generation_id',
    generation,
    (id) => ({
      path: '/generation/feedback',
      body: { generation_id: id, category: 'other' },
    }),
    { keys: 'any' },
  ),
  ...(
    [
      ['workspace_id', workspace],
      ['api_key_hash', key],
      ['user_id', member],
    ] as const
  ).map(([name, thing]) =>
    row('get /activity', `query ${name}`, thing, `/activity?${name}={}`, { management: HISTORY }),
  ),
  ...['/audit-log', '/audit-log/export'].flatMap((path) =>
    (
      [
        ['workspace_id', workspace],
        ['actor_id', member],
        ['resource_id', key],
      ] as const
    ).map(([name, thing]) =>
      row(`get ${path}`, `query ${name}`, thing, `${path}?${name}={}`, { management: HISTORY, missing: 200 }),
    ),
  ),
  row('patch /organization/members/{id}', 'path id', member, '/organization/members/{}', {
    body: { role: 'org:member' },
  }),
  row('delete /organization/members/{id}', 'path id', member, '/organization/members/{}'),
  row('delete /organization/members/{id}/sessions', 'path id', member, '/organization/members/{}/sessions'),
  row(
    'post /organization/members/{id}/password-link',
    'path id',
    member,
    '/organization/members/{}/password-link',
    {
      body: {},
      // Found, and without an address to sign in with.
      found: 409,
    },
  ),
  row('delete /organization/invitations/{id}', 'path id', invitation, '/organization/invitations/{}'),
  row('delete /models/overrides/{override_id}', 'path override_id', override, '/models/overrides/{}'),
]

const inference: Row[] = [
  ...(
    [
      ['get /responses/{id}', ''],
      ['delete /responses/{id}', ''],
      ['get /responses/{id}/input_items', '/input_items'],
    ] as const
  ).map(([operation, end]) =>
    row(operation, 'path id', response, `/responses/{}${end}`, { keys: 'inference' }),
  ),
  row('post /responses/{id}/cancel', 'path id', response, '/responses/{}/cancel', {
    keys: 'inference',
    // Only what runs in the background can be cancelled.
    found: 400,
  }),
  row(
    'post /responses',
    'body previous_response_id',
    response,
    (id) => ({
      path: '/responses',
      body: { model: 'sluice/demo', input: 'And then?', previous_response_id: id },
    }),
    { keys: 'inference' },
  ),
  row(
    'post /responses/compact',
    'body previous_response_id',
    response,
    (id) => ({
      path: '/responses/compact',
      body: { model: 'sluice/demo', input: 'And then?', previous_response_id: id },
    }),
    // The built-in model cannot compact.
    { keys: 'inference', found: 400 },
  ),
  ...(
    [
      ['/chat/completions', CHAT],
      ['/responses', { model: 'sluice/demo', input: 'Hi' }],
      ['/messages', { ...CHAT, max_tokens: 20 }],
    ] as const
  ).map(([path, body]) =>
    row(`post ${path}`, 'body preset', preset, (id) => ({ path, body: { ...body, preset: id } }), {
      keys: 'inference',
    }),
  ),
  ...(
    [
      ['/chat/completions', (file_id: string) => ({ messages: said([{ type: 'file', file: { file_id } }]) })],
      ['/responses', (file_id: string) => ({ input: said([{ type: 'input_file', file_id }]) })],
      [
        '/messages',
        (file_id: string) => ({
          max_tokens: 20,
          messages: said([{ type: 'document', source: { type: 'file', file_id } }]),
        }),
      ],
    ] as const
  ).map(([path, body]) =>
    row(
      `post ${path}`,
      'body file_id',
      file,
      (id) => ({ path, body: { model: 'sluice/demo', ...body(id) } }),
      { keys: 'inference' },
    ),
  ),
]

const said = (content: unknown[]) => [{ role: 'user', content }]

export const rows: readonly Row[] = [
  ...workspaces,
  ...guardrails,
  ...presets,
  ...files,
  ...keys,
  ...byokKeys,
  ...destinations,
  ...providers,
  ...records,
  ...inference,
]
