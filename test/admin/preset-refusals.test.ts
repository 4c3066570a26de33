import { beforeAll } from 'bun:test'
import { API_KEY, MANAGEMENT_KEY } from '../gateway.ts'
import { runScenarios, type Scenario } from '../scenario.ts'
import { administration, onlyManagementKeys } from './administration.ts'
import { HELLO, makePreset } from './presets.ts'

const admin = administration()
beforeAll(async () => {
  for (const slug of ['calm', 'rush']) await makePreset(admin, slug, { model: 'sluice/demo' })
  await makePreset(admin, 'shared', { messages: [{ role: 'system', content: 'Help {{name}}.' }] })
})

const inference = (
  name: string,
  body: object,
  status: number,
  contains: string[],
  path = '/chat/completions',
) => ({
  name,
  method: 'POST',
  path: `/v1${path}`,
  key: API_KEY,
  body,
  status,
  contains,
})
const scenarios: Scenario[] = [
  inference('an unknown preset', { preset: 'missing', ...HELLO }, 404, ['"missing']),
  inference('two presets', { model: '@preset/calm', preset: 'rush', ...HELLO }, 400, ['two presets']),
  inference('a preset that is not a string', { preset: 7, ...HELLO }, 400, ['preset']),
  inference(
    'a variable that is not a string',
    { input: 'x', prompt: { id: 'shared', variables: { name: 7 } } },
    400,
    ['prompt.variables.name'],
    '/responses',
  ),
  ...['/presets/calm', '/presets', '/presets/calm/versions', '/presets/calm/versions/1'].map((path) => ({
    name: `${path} without a key`,
    path: `/v1${path}`,
    status: 401,
  })),
  ...(
    [
      ['POST', '/presets/x/chat/completions'],
      ['POST', '/presets/x/responses'],
      ['POST', '/presets/x/messages'],
      ['PATCH', '/presets/calm'],
    ] as const
  ).flatMap(([method, path]) => [
    ...onlyManagementKeys(method, `/v1${path}`, {}),
    {
      name: `${method} ${path} with a malformed body`,
      method,
      path: `/v1${path}`,
      key: MANAGEMENT_KEY,
      body: '{',
      status: 400,
    },
  ]),
  ...[
    ['a setting out of bounds', { temperature: 3 }, 'temperature'],
    ['a setting of another kind', { tools: 'all' }, 'tools'],
  ].map(([name, body, contains]) => ({
    name: String(name),
    method: 'POST',
    path: '/v1/presets/x/chat/completions',
    key: MANAGEMENT_KEY,
    body,
    status: 400,
    contains: [String(contains)],
  })),
  ...['a%20b', '-a', 'a%2Fb', 'ä', 'a'.repeat(101)].map((slug) => ({
    name: `the slug ${slug.slice(0, 8)}`,
    method: 'POST',
    path: `/v1/presets/${slug}/chat/completions`,
    key: MANAGEMENT_KEY,
    body: {},
    status: 400,
    contains: ['slug'],
  })),
  { name: 'reading an unknown preset', path: '/v1/presets/nothing', key: MANAGEMENT_KEY, status: 404 },
  { name: 'an unknown version', path: '/v1/presets/calm/versions/99', key: MANAGEMENT_KEY, status: 404 },
  { name: 'version 0', path: '/v1/presets/calm/versions/0', key: MANAGEMENT_KEY, status: 400 },
  {
    name: 'an unknown status',
    method: 'PATCH',
    path: '/v1/presets/calm',
    key: MANAGEMENT_KEY,
    body: { status: 'asleep' },
    status: 400,
    contains: ['status'],
  },
  {
    name: 'an unknown designated_version',
    method: 'PATCH',
    path: '/v1/presets/calm',
    key: MANAGEMENT_KEY,
    body: { designated_version: 99 },
    status: 404,
  },
  {
    name: 'an unknown workspace',
    path: '/v1/presets?workspace_id=0190a000-0000-7000-8000-000000000000',
    key: MANAGEMENT_KEY,
    status: 404,
  },
]
runScenarios('refusals', () => admin.handler, scenarios)
