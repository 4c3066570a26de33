import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call, type Reply, runScenarios, type Scenario } from '../scenario.ts'
import { addWorkspace, OTHER_WORKSPACE } from './fixtures.ts'

let now = Date.UTC(2026, 6, 15, 12)
let gateway: Gateway
let handler: Handler
let otherKey = ''
let sent: Record<string, unknown>[] = []

const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    sent.push(objectOf(await request.json()))
    return Response.json({
      id: 'up-1',
      model: 'tiny',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
    })
  },
})

beforeAll(async () => {
  gateway = await startGateway({
    now: () => now,
    providers: [
      {
        slug: 'lab',
        base_url: `http://127.0.0.1:${upstream.port}/v1`,
        models: ['tiny', 'large'].map((id) => ({ id, pricing: { prompt: '0', completion: '0' } })),
      },
    ],
  })
  handler = createApp(gateway.deps)
  otherKey = (await addWorkspace(gateway)).key
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})

const manage = (method: string, path: string, body?: unknown): Promise<Reply> =>
  call(handler, { method, path: `/api/v1${path}`, key: MANAGEMENT_KEY, body })
const dataOf = (reply: Reply): Record<string, unknown> => objectOf(objectOf(reply.json)['data'])
const keep = async (
  slug: string,
  body: object,
  route = 'chat/completions',
): Promise<Record<string, unknown>> => {
  const reply = await manage('POST', `/presets/${slug}/${route}`, body)
  expect([reply.status, reply.text]).toEqual([200, expect.any(String)])
  return dataOf(reply)
}
async function ask(body: object, path = '/chat/completions'): Promise<Reply> {
  sent = []
  return call(handler, { method: 'POST', path: `/v1${path}`, key: API_KEY, body })
}
const MESSAGES = [{ role: 'user', content: 'Hi' }]
const HELLO = { messages: MESSAGES }
const weather = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }

describe('keeping', () => {
  test('the first request makes the preset, the next its next version', async () => {
    const first = await keep('calm', {
      model: 'tiny',
      temperature: 0.1,
      messages: [{ role: 'system', content: 'Be calm.' }, ...MESSAGES],
      stream: true,
      user: 'u1',
      session_id: 's1',
      metadata: { a: 'b' },
    })
    const version = {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      preset_id: first['id'],
      version: 1,
      config: { model: 'tiny', temperature: 0.1 },
      system_prompt: 'Be calm.',
      creator_id: expect.stringMatching(/^user_/),
      created_at: new Date(now).toISOString(),
      updated_at: new Date(now).toISOString(),
    }
    expect(first).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      workspace_id: gateway.deps.snapshot.current().defaultWorkspaceId,
      slug: 'calm',
      name: 'calm',
      description: null,
      status: 'active',
      status_updated_at: null,
      designated_version_id: objectOf(first['designated_version'])['id'],
      creator_user_id: expect.stringMatching(/^user_/),
      created_at: new Date(now).toISOString(),
      updated_at: new Date(now).toISOString(),
      designated_version: version,
    })
    now += 1000
    const second = await keep('calm', { temperature: 0.2 })
    expect(second['id']).toBe(first['id'])
    expect(second).toMatchObject({
      updated_at: new Date(now).toISOString(),
      designated_version: { version: 2, config: { temperature: 0.2 }, system_prompt: null },
    })
    expect(dataOf(await manage('GET', '/presets/calm'))).toEqual(second)
    expect((await manage('GET', '/presets/calm/versions')).json).toEqual({
      data: [second['designated_version'], first['designated_version']],
      total_count: 2,
      next_cursor: null,
    })
    expect(dataOf(await manage('GET', '/presets/calm/versions/1'))).toEqual(version)
    const { designated_version: _, ...bare } = second
    expect((await manage('GET', '/presets')).json).toEqual({
      data: [bare],
      total_count: 1,
      next_cursor: null,
    })
  })

  test('ten at once are ten versions without a gap', async () => {
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, index) => keep('rush', { temperature: index / 10 })),
    )
    const numbers = made.map((each) => Number(objectOf(each['designated_version'])['version']))
    expect(numbers.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect((await manage('GET', '/presets/rush/versions?limit=3')).json).toMatchObject({ total_count: 10 })
  })

  const words: [route: string, body: object, config: object, systemPrompt: string | null][] = [
    [
      'responses',
      {
        model: 'tiny',
        input: 'Hi',
        instructions: 'Be brief.',
        max_output_tokens: 64,
        text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' } }, verbosity: 'low' },
        reasoning: { effort: 'low' },
        tools: [{ type: 'function', name: 'weather', parameters: { type: 'object' } }],
        tool_choice: { type: 'function', name: 'weather' },
        store: true,
        previous_response_id: null,
      },
      {
        model: 'tiny',
        max_completion_tokens: 64,
        response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
        verbosity: 'low',
        reasoning: { effort: 'low' },
        tools: [weather],
        tool_choice: { type: 'function', function: { name: 'weather' } },
      },
      'Be brief.',
    ],
    [
      'messages',
      {
        model: 'tiny',
        ...HELLO,
        max_tokens: 2048,
        system: [
          { type: 'text', text: 'Be' },
          { type: 'text', text: 'kind.' },
        ],
        stop_sequences: ['END'],
        thinking: { type: 'enabled', budget_tokens: 1024 },
        tools: [{ name: 'weather', input_schema: { type: 'object' } }],
        tool_choice: { type: 'any', disable_parallel_tool_use: true },
        metadata: { user_id: 'u1' },
      },
      {
        model: 'tiny',
        max_tokens: 2048,
        stop: ['END'],
        reasoning: { enabled: true, max_tokens: 1024 },
        tools: [weather],
        tool_choice: 'required',
        parallel_tool_calls: false,
      },
      'Be\nkind.',
    ],
  ]
  test.each(words)(
    'a request of /%s is kept in the words of chat',
    async (route, body, config, systemPrompt) => {
      const kept = await keep(`of-${route}`, body, route)
      expect(kept['designated_version']).toMatchObject({ version: 1, system_prompt: systemPrompt })
      expect(objectOf(kept['designated_version'])['config']).toEqual(config)
    },
  )
})

describe('using', () => {
  test('by model, by model and slug, and by field; what the request sets wins', async () => {
    await keep('terse', {
      model: 'tiny',
      temperature: 0.3,
      max_tokens: 9,
      seed: 7,
      messages: [{ role: 'system', content: 'Be terse.' }, ...MESSAGES],
    })
    const kept = { temperature: 0.3, max_tokens: 9, seed: 7 }
    const system = { role: 'system', content: 'Be terse.' }
    for (const named of [{ model: '@preset/terse' }, { preset: 'terse' }, { model: 'tiny@preset/terse' }]) {
      expect((await ask({ ...named, ...HELLO })).status).toBe(200)
      expect(sent[0]).toMatchObject({ model: 'tiny', ...kept, messages: [system, ...MESSAGES] })
    }
    const own = { model: 'large@preset/terse', temperature: 1, max_completion_tokens: 5 }
    expect(
      (await ask({ ...own, messages: [{ role: 'system', content: 'Mine.' }, ...MESSAGES] })).status,
    ).toBe(200)
    expect(sent[0]).toMatchObject({
      model: 'large',
      temperature: 1,
      max_completion_tokens: 5,
      seed: 7,
      messages: [{ role: 'system', content: 'Mine.' }, ...MESSAGES],
    })
    expect(sent[0]).not.toHaveProperty('max_tokens')
    expect(sent[0]).not.toHaveProperty('preset')
  })

  test('tools are joined, the own ahead of the kept of the same name', async () => {
    const clock = { type: 'function', function: { name: 'clock', parameters: { type: 'object' } } }
    await keep('tooled', { model: 'tiny', ...HELLO, tools: [weather, clock] })
    const better = { ...weather, function: { ...weather.function, description: 'of today' } }
    await ask({ preset: 'tooled', ...HELLO, tools: [better] })
    expect(sent[0]?.['tools']).toEqual([better, clock])
  })

  test('one that was kept of chat serves Responses and Messages, in their words', async () => {
    await keep('shared', {
      model: 'tiny',
      max_tokens: 33,
      temperature: 0.4,
      tools: [weather],
      tool_choice: 'required',
      messages: [{ role: 'system', content: 'Help {{name}}.' }, ...MESSAGES],
    })
    const same = {
      model: 'tiny',
      max_tokens: 33,
      temperature: 0.4,
      tool_choice: 'required',
      tools: [{ type: 'function', function: { name: 'weather' } }],
    }
    const prompted = await ask(
      { input: 'Hi', prompt: { id: 'shared', variables: { name: 'Ada' } } },
      '/responses',
    )
    expect(prompted.status).toBe(200)
    expect(sent[0]).toMatchObject(same)
    expect(JSON.stringify(sent[0]?.['messages'])).toContain('Help Ada.')
    expect((await ask({ model: '@preset/shared', ...HELLO }, '/messages')).status).toBe(200)
    expect(sent[0]).toMatchObject(same)
    expect(JSON.stringify(sent[0]?.['messages'])).toContain('Help {{name}}.')
  })

  test('the record of the generation names it', async () => {
    const { id } = await keep('recorded', { model: 'tiny', ...HELLO })
    const reply = await ask({ preset: 'recorded', ...HELLO })
    const generation = objectOf(reply.json)['id']
    const record = await call(handler, { path: `/v1/generation?id=${generation}`, key: API_KEY })
    expect(dataOf(record)['preset_id']).toBe(id)
  })

  test('an older version can be gone back to; a disabled and an archived one is not used', async () => {
    const { id } = await keep('states', { model: 'tiny', temperature: 0.1 })
    await keep('states', { model: 'tiny', temperature: 0.2 })
    now += 1000
    const back = dataOf(await manage('PATCH', '/presets/states', { designated_version: 1, name: 'States' }))
    expect(back).toMatchObject({
      name: 'States',
      designated_version: { version: 1 },
      status_updated_at: null,
    })
    await ask({ preset: 'states', ...HELLO })
    expect(sent[0]?.['temperature']).toBe(0.1)
    for (const status of ['disabled', 'archived']) {
      const changed = dataOf(await manage('PATCH', '/presets/states', { status }))
      expect(changed).toMatchObject({ status, status_updated_at: new Date(now).toISOString() })
      const refused = await ask({ preset: 'states', ...HELLO })
      expect([refused.status, refused.text]).toEqual([
        404,
        expect.stringContaining(`"states\\" is ${status}`),
      ])
    }
    await manage('PATCH', '/presets/states', { status: 'active' })
    expect((await ask({ preset: 'states', ...HELLO })).status).toBe(200)
    const { data } = objectOf((await manage('GET', `/audit-log?resource_id=${id}`)).json)
    expect(Array.isArray(data) && data.map((entry) => objectOf(entry)['action'])).toEqual([
      ...Array.from({ length: 4 }, () => 'preset.update'),
      'preset.add_version',
      'preset.create',
    ])
  })

  test('those of another workspace are not there: not to read, not to use', async () => {
    await keep('private', { model: 'tiny' })
    await manage('POST', `/presets/theirs/chat/completions?workspace_id=${OTHER_WORKSPACE}`, {
      model: 'tiny',
    })
    const foreign = (path: string) => call(handler, { path: `/v1${path}`, key: otherKey })
    expect((await foreign('/presets')).json).toMatchObject({ total_count: 1, data: [{ slug: 'theirs' }] })
    const missing = await foreign('/presets/nothing')
    expect([(await foreign('/presets/private')).text, missing.status]).toEqual([missing.text, 404])
    expect((await foreign('/presets/private/versions')).status).toBe(404)
    expect((await foreign('/presets/private/versions/1')).status).toBe(404)
    const { defaultWorkspaceId } = gateway.deps.snapshot.current()
    expect((await foreign(`/presets?workspace_id=${defaultWorkspaceId}`)).status).toBe(404)
    const used = await call(handler, {
      method: 'POST',
      path: '/v1/chat/completions',
      key: otherKey,
      body: { preset: 'private', ...HELLO },
    })
    expect(used.status).toBe(404)
  })
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
  inference('an unknown preset', { preset: 'nobody', ...HELLO }, 404, ['"nobody']),
  inference('two presets', { model: '@preset/calm', preset: 'rush', ...HELLO }, 400, ['two presets']),
  inference('a preset that is no text', { preset: 7, ...HELLO }, 400, ['preset']),
  inference(
    'a variable that is no text',
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
    { name: `${method} ${path} without a key`, method, path: `/v1${path}`, body: {}, status: 401 },
    {
      name: `${method} ${path} with an inference key`,
      method,
      path: `/v1${path}`,
      key: API_KEY,
      body: {},
      status: 403,
      contains: ['Only management keys'],
    },
    {
      name: `${method} ${path} with a body that is none`,
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
  { name: 'an unknown preset to read', path: '/v1/presets/nothing', key: MANAGEMENT_KEY, status: 404 },
  { name: 'an unknown version', path: '/v1/presets/calm/versions/99', key: MANAGEMENT_KEY, status: 404 },
  { name: 'a version that is none', path: '/v1/presets/calm/versions/0', key: MANAGEMENT_KEY, status: 400 },
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
    name: 'a version to go back to that is not there',
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
runScenarios('refusals', () => handler, scenarios)
