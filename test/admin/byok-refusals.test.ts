import { beforeAll, expect, test } from 'bun:test'
import { MANAGEMENT_KEY } from '../gateway.ts'
import { runScenarios, type Scenario } from '../scenario.ts'
import { administration, onlyManagementKeys } from './administration.ts'
import { SECRET, storeByok } from './byok.ts'
import { dataOf } from './people.ts'
import { addPeople, makeWorkspace } from './workspaces.ts'

const MISSING = '0190a000-0000-7000-8000-000000000404'
const admin = administration()
const { manage } = admin
let ownHash = ''
let otherId = ''
let otherHash = ''
beforeAll(async () => {
  await addPeople(admin.gateway)
  otherId = await makeWorkspace(admin, 'other')
  ownHash = (await admin.gateway.makeKey({})).hash
  otherHash = (await admin.gateway.makeKey({ workspace_id: otherId })).hash
})

const post = (name: string, body: object, status: number, contains: string[]): Scenario => ({
  name,
  method: 'POST',
  path: '/api/v1/byok',
  key: MANAGEMENT_KEY,
  body: { provider: 'openai', key: SECRET, ...body },
  status,
  contains,
  absent: ['Canary', 'Zebra'],
})
const many = (count: number, text = 'x'): string[] => Array.from({ length: count }, (_, at) => `${text}${at}`)

runScenarios('POST /byok refuses', () => admin.handler, [
  post('an unknown provider', { provider: 'opneai' }, 400, ['provider', 'openai']),
  post('a key in place of a provider', { provider: SECRET }, 400, ['provider', 'such as openai']),
  post('an empty key', { key: '' }, 400, ['key']),
  post('a blank key', { key: '   ' }, 400, ['key: must not be blank']),
  post('a key with a line break', { key: `${SECRET}\n${SECRET}` }, 400, ['key: contains characters']),
  post('a key that is too long', { key: 'k'.repeat(16_385) }, 400, ['key']),
  post('half a key of AWS', { provider: 'amazon-bedrock', key: '{"accessKeyId":"Canary"}' }, 400, ['lacks']),
  post('a broken service account', { provider: 'google-vertex', key: '{"type":"Canary"' }, 400, ['not JSON']),
  post(
    'a service account with a foreign token_uri',
    {
      provider: 'google-vertex',
      key: JSON.stringify({
        type: 'service_account',
        client_email: 'a@b.example',
        private_key: '-----BEGIN PRIVATE KEY-----\nQUJD\n-----END PRIVATE KEY-----\n',
        token_uri: 'https://metadata.example/token',
      }),
    },
    400,
    ['token_uri'],
  ),
  post('a fallback that is the only one', { is_fallback: true, is_byok_only: true }, 400, ['is_byok_only']),
  post('no hashes', { allowed_api_key_hashes: [] }, 400, ['allowed_api_key_hashes']),
  post('101 models', { allowed_models: many(101) }, 400, ['allowed_models']),
  post('101 users', { allowed_user_ids: many(101) }, 400, ['allowed_user_ids']),
  post('101 hashes', { allowed_api_key_hashes: many(101) }, 400, ['allowed_api_key_hashes']),
  post('a long name', { name: 'n'.repeat(256) }, 400, ['name']),
  post('an unknown field', { colour: 'red' }, 400, ['colour']),
  post('a sort_order at creation', { sort_order: 3 }, 400, ['sort_order']),
  post('a malformed workspace', { workspace_id: 'x' }, 400, ['workspace_id']),
  post('an unknown workspace', { workspace_id: MISSING }, 404, ['no workspace']),
  post('an unknown key hash', { allowed_api_key_hashes: ['f'.repeat(64)] }, 404, [
    'allowed_api_key_hashes[0]',
  ]),
  post('an unknown user', { allowed_user_ids: ['user_ada', 'user_nobody'] }, 404, ['allowed_user_ids[1]']),
  post('a removed user', { allowed_user_ids: ['user_gone'] }, 404, ['allowed_user_ids[0]']),
])

const paths: [method: string, path: string][] = [
  ['GET', '/byok'],
  ['POST', '/byok'],
  ['GET', `/byok/${MISSING}`],
  ['PATCH', `/byok/${MISSING}`],
  ['DELETE', `/byok/${MISSING}`],
]
runScenarios(
  'permissions',
  () => admin.handler,
  paths.flatMap(([method, path]) => {
    const row = { method, path: `/api/v1${path}`, body: method === 'GET' ? undefined : { colour: 1 } }
    const isOne = path !== '/byok'
    return [
      ...onlyManagementKeys(method, row.path, row.body),
      ...(isOne
        ? [
            {
              ...row,
              name: `${method} ${path}, unknown`,
              key: MANAGEMENT_KEY,
              body: method === 'PATCH' ? {} : undefined,
              status: 404,
            },
            {
              ...row,
              name: `${method}, not a UUID`,
              path: '/api/v1/byok/x',
              key: MANAGEMENT_KEY,
              status: 400,
            },
          ]
        : []),
    ]
  }),
)

test('values at their limits are accepted', async () => {
  const fields = {
    name: 'n'.repeat(255),
    key: 'k'.repeat(16_384),
    allowed_models: many(100),
    allowed_user_ids: Array(100).fill('user_ada'),
    allowed_api_key_hashes: Array(100).fill(ownHash),
  }
  const id = await storeByok(admin, fields)
  const emptied = await manage('PATCH', `/byok/${id}`, { allowed_models: [], allowed_user_ids: [] })
  expect(dataOf(emptied)).toMatchObject({ allowed_models: [], allowed_user_ids: [] })
  for (const body of [{ provider: 'groq' }, { workspace_id: otherId }, { key: '' }, { name: 1 }]) {
    expect((await manage('PATCH', `/byok/${id}`, body)).status).toBe(400)
  }
  // A key of another workspace gets the same reply as an unknown one.
  const foreign = await manage('PATCH', `/byok/${id}`, { allowed_api_key_hashes: [otherHash] })
  const unknown = await manage('PATCH', `/byok/${id}`, { allowed_api_key_hashes: ['e'.repeat(64)] })
  expect([foreign.status, foreign.json]).toEqual([404, unknown.json])
  expect((await manage('GET', `/byok?workspace_id=${MISSING}`)).status).toBe(404)
})
