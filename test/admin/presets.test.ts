import { describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { administration } from './administration.ts'
import { dataOf } from './people.ts'
import { HELLO, MESSAGES, makePreset, weather } from './presets.ts'

let now = Date.UTC(2026, 6, 15, 12)
const admin = administration({ now: () => now })
const { manage } = admin

describe('saving', () => {
  test('the first request creates the preset, each further one a version', async () => {
    const first = await makePreset(admin, 'calm', {
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
      workspace_id: admin.gateway.deps.snapshot.current().defaultWorkspaceId,
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
    const second = await makePreset(admin, 'calm', { temperature: 0.2 })
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

  test('ten concurrent requests are ten versions without a gap', async () => {
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, index) => makePreset(admin, 'rush', { temperature: index / 10 })),
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
    'a request of /%s is stored with the fields of chat completions',
    async (route, body, config, systemPrompt) => {
      const kept = await makePreset(admin, `of-${route}`, body, route)
      expect(kept['designated_version']).toMatchObject({ version: 1, system_prompt: systemPrompt })
      expect(objectOf(kept['designated_version'])['config']).toEqual(config)
    },
  )
})
