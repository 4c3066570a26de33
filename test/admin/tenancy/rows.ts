/**
 * One row for each place of an operation where an identifier stands. A new operation with an identifier needs a row in
 * one of these files, or a place in `not-identifiers.ts` with the reason.
 */
import { resourceRows } from './resource-rows.ts'
import { HISTORY, type Row, row } from './row.ts'
import { things } from './things.ts'
import { workspaceRows } from './workspace-rows.ts'

const { workspace, key, preset, file, content, generation, response, member, override, invitation } = things

const CHAT = { model: 'sluice/demo', messages: [{ role: 'user', content: 'Hi' }] }

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
    // Only a background response can be cancelled.
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
      [
        '/chat/completions',
        (file_id: string) => ({ messages: message([{ type: 'file', file: { file_id } }]) }),
      ],
      ['/responses', (file_id: string) => ({ input: message([{ type: 'input_file', file_id }]) })],
      [
        '/messages',
        (file_id: string) => ({
          max_tokens: 20,
          messages: message([{ type: 'document', source: { type: 'file', file_id } }]),
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

const message = (content: unknown[]) => [{ role: 'user', content }]

export const rows: readonly Row[] = [...workspaceRows, ...resourceRows, ...records, ...inference]
