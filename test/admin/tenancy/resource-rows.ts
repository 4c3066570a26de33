/** Presets, files, destinations and providers. */
import { type Row, row, WORKSPACE } from './row.ts'
import { fresh, oneOf, things } from './things.ts'
import type { World } from './types.ts'

const { workspace, key, preset, file, destination, provider, credential } = things

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
    // A new slug creates a preset in the caller's own workspace, whether other workspaces have it or not.
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

/** A preset of the workspace, if that exists. */
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
  row(`get ${DESTINATION}/{id}/status`, 'path id', destination, `${DESTINATION}/{}/status`),
  row(`get ${DESTINATION}/{id}/failed`, 'path id', destination, `${DESTINATION}/{}/failed`),
  row(`post ${DESTINATION}/{id}/discard`, 'path id', destination, `${DESTINATION}/{}/discard`),
  row(`post ${DESTINATION}/{id}/replay`, 'path id', destination, `${DESTINATION}/{}/replay`, {
    body: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' },
    found: 409,
  }),
  // No replay runs.
  row(`delete ${DESTINATION}/{id}/replay`, 'path id', destination, `${DESTINATION}/{}/replay`, {
    found: 409,
  }),
  // Only webhooks are signed.
  row(`post ${DESTINATION}/{id}/secret`, 'path id', destination, `${DESTINATION}/{}/secret`, { found: 400 }),
  // Its name does not resolve, so no test event is sent.
  row(`post ${DESTINATION}/{id}/test`, 'path id', destination, `${DESTINATION}/{}/test`),
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

export const resourceRows: readonly Row[] = [...presets, ...files, ...destinations, ...providers]
