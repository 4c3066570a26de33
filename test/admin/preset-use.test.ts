import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { API_KEY } from '../gateway.ts'
import { call, type Reply } from '../scenario.ts'
import { administration } from './administration.ts'
import { addWorkspace, OTHER_WORKSPACE } from './fixtures.ts'
import { dataOf } from './people.ts'
import { HELLO, MESSAGES, makePreset, weather } from './presets.ts'

let now = Date.UTC(2026, 6, 15, 12)
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
const admin = administration({
  now: () => now,
  providers: [
    {
      slug: 'lab',
      base_url: `http://127.0.0.1:${upstream.port}/v1`,
      models: ['tiny', 'large'].map((id) => ({ id, pricing: { prompt: '0', completion: '0' } })),
    },
  ],
})
const { manage } = admin
beforeAll(async () => {
  otherKey = (await addWorkspace(admin.gateway)).key
})
afterAll(() => upstream.stop(true))
async function ask(body: object, path = '/chat/completions'): Promise<Reply> {
  sent = []
  return call(admin.handler, { method: 'POST', path: `/v1${path}`, key: API_KEY, body })
}
describe('a request with a preset', () => {
  test('names it by model, by model and slug, or by field; fields of the request take precedence', async () => {
    await makePreset(admin, 'terse', {
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

  test('has the tools of both; its own replace those of the same name', async () => {
    const clock = { type: 'function', function: { name: 'clock', parameters: { type: 'object' } } }
    await makePreset(admin, 'tooled', { model: 'tiny', ...HELLO, tools: [weather, clock] })
    const better = { ...weather, function: { ...weather.function, description: 'of today' } }
    await ask({ preset: 'tooled', ...HELLO, tools: [better] })
    expect(sent[0]?.['tools']).toEqual([better, clock])
  })

  test('can be of Responses or Messages, although the preset was made by chat completions', async () => {
    await makePreset(admin, 'shared', {
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

  test('has its id in the record of the generation', async () => {
    const { id } = await makePreset(admin, 'recorded', { model: 'tiny', ...HELLO })
    const reply = await ask({ preset: 'recorded', ...HELLO })
    const generation = objectOf(reply.json)['id']
    const record = await call(admin.handler, { path: `/v1/generation?id=${generation}`, key: API_KEY })
    expect(dataOf(record)['preset_id']).toBe(id)
  })

  test('gets the designated version, and a 404 if the preset is disabled or archived', async () => {
    const { id } = await makePreset(admin, 'states', { model: 'tiny', temperature: 0.1 })
    await makePreset(admin, 'states', { model: 'tiny', temperature: 0.2 })
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

  test('cannot read or use the presets of another workspace', async () => {
    await makePreset(admin, 'private', { model: 'tiny' })
    await manage('POST', `/presets/theirs/chat/completions?workspace_id=${OTHER_WORKSPACE}`, {
      model: 'tiny',
    })
    const foreign = (path: string) => call(admin.handler, { path: `/v1${path}`, key: otherKey })
    expect((await foreign('/presets')).json).toMatchObject({ total_count: 1, data: [{ slug: 'theirs' }] })
    const missing = await foreign('/presets/nothing')
    expect([(await foreign('/presets/private')).text, missing.status]).toEqual([missing.text, 404])
    expect((await foreign('/presets/private/versions')).status).toBe(404)
    expect((await foreign('/presets/private/versions/1')).status).toBe(404)
    const { defaultWorkspaceId } = admin.gateway.deps.snapshot.current()
    expect((await foreign(`/presets?workspace_id=${defaultWorkspaceId}`)).status).toBe(404)
    const used = await call(admin.handler, {
      method: 'POST',
      path: '/v1/chat/completions',
      key: otherKey,
      body: { preset: 'private', ...HELLO },
    })
    expect(used.status).toBe(404)
  })
})
