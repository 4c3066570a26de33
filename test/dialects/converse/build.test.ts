import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { chatIngress } from '../../../src/dialects/chat/index.ts'
import { converseEgress } from '../../../src/dialects/converse/index.ts'
import { attemptOf } from './attempt.ts'
import { beside, build, CLAUDE, GPT_OSS, HI, LLAMA, NOVA, OTHER, TURN } from './built.ts'

const NEW_CLAUDE = 'eu.anthropic.claude-opus-4-8'

const NOVA_2 = 'us.amazon.nova-2-lite-v1:0'

const DEEPSEEK = 'deepseek.v3-v1:0'

describe('the path', () => {
  test.each([
    [CLAUDE, false, '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse'],
    [CLAUDE, true, '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream'],
    [
      'arn:aws:bedrock:us-east-1:1:application-inference-profile/a',
      false,
      '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fa/converse',
    ],
  ])('%s, streamed: %p', (model, stream, path) => {
    const call = build({ stream }, model)
    expect(call.path).toBe(path)
    expect(call.headers).toEqual({})
    expect(call.body).toEqual({ messages: [TURN] })
  })
})

describe('parameters', () => {
  const config = (inferenceConfig: JsonObject, dropped: string[] = []) => ({ inferenceConfig, dropped })
  test.each<[what: string, fields: JsonObject, model: string, expected: JsonObject]>([
    ['the bound', { max_tokens: 9 }, CLAUDE, config({ maxTokens: 9 })],
    [
      'sampling',
      { temperature: 0.5, top_p: 0.9, stop: ['a', 'b'] },
      NOVA,
      config({ temperature: 0.5, topP: 0.9, stopSequences: ['a', 'b'] }),
    ],
    ['a temperature above 1', { temperature: 1.5 }, NOVA, config({ temperature: 1 }, ['temperature'])],
    [
      'of two, Claude takes one',
      { temperature: 0.5, top_p: 0.9 },
      CLAUDE,
      config({ temperature: 0.5 }, ['top_p']),
    ],
    ['a stop of white space', { stop: ['\n', 'x'] }, CLAUDE, config({ stopSequences: ['x'] }, ['stop'])],
    [
      'the newest Claude takes none',
      { temperature: 0.5, top_k: 3 },
      NEW_CLAUDE,
      { dropped: ['temperature', 'top_k'] },
    ],
    ['top_k of Claude', { top_k: 7 }, CLAUDE, { additionalModelRequestFields: { top_k: 7 }, dropped: [] }],
    [
      'top_k of Nova',
      { top_k: 7 },
      NOVA,
      { additionalModelRequestFields: { inferenceConfig: { topK: 7 } }, dropped: [] },
    ],
    ['top_k of others', { top_k: 7 }, OTHER, { dropped: ['top_k'] }],
    ['a tier', { service_tier: 'flex' }, CLAUDE, { serviceTier: { type: 'flex' }, dropped: [] }],
    ['a fast tier', { service_tier: 'priority' }, CLAUDE, { serviceTier: { type: 'priority' }, dropped: [] }],
    ['any tier', { service_tier: 'auto' }, CLAUDE, { dropped: [] }],
    ['a tier of OpenAI alone', { service_tier: 'scale' }, CLAUDE, { dropped: ['service_tier'] }],
    ['metadata', { metadata: { team: 'a b' } }, CLAUDE, { requestMetadata: { team: 'a b' }, dropped: [] }],
    [
      'metadata that AWS would refuse',
      { metadata: { ok: '1', bad: 'ü' } },
      CLAUDE,
      { requestMetadata: { ok: '1' }, dropped: ['metadata'] },
    ],
    [
      'fields of Converse’s own',
      {
        guardrailConfig: { guardrailIdentifier: 'g', guardrailVersion: '1' },
        performanceConfig: { latency: 'optimized' },
        requestMetadata: { a: 'b' },
        additionalModelRequestFields: { anthropic_beta: ['x'] },
      },
      CLAUDE,
      {
        guardrailConfig: { guardrailIdentifier: 'g', guardrailVersion: '1' },
        performanceConfig: { latency: 'optimized' },
        requestMetadata: { a: 'b' },
        additionalModelRequestFields: { anthropic_beta: ['x'] },
        dropped: [],
      },
    ],
    [
      'what has no word here',
      { seed: 1, logprobs: true, frequency_penalty: 1, n: 2, user: 'u', prediction: { type: 'content' } },
      CLAUDE,
      { dropped: ['user', 'frequency_penalty', 'seed', 'logprobs', 'n', 'prediction'] },
    ],
  ])('%s', (_, fields, model, expected) => expect<unknown>(beside(fields, model)).toEqual(expected))

  test('the bound of the budget replaces the caller’s', () => {
    expect(build({ max_tokens: 9 }, CLAUDE, {}, 5).body['inferenceConfig']).toEqual({ maxTokens: 5 })
  })
})

describe('reasoning', () => {
  const fields = (additionalModelRequestFields: JsonObject, dropped: string[] = []) => ({
    additionalModelRequestFields,
    dropped,
  })
  test.each<[what: string, reasoning: JsonObject, model: string, expected: JsonObject]>([
    [
      'a budget',
      { max_tokens: 2000 },
      CLAUDE,
      fields({ thinking: { type: 'enabled', budget_tokens: 2000 } }),
    ],
    [
      'an effort, without a known bound',
      { effort: 'high' },
      CLAUDE,
      fields({ thinking: { type: 'enabled', budget_tokens: 13_107 } }),
    ],
    [
      'an effort of a model that thinks adaptively',
      { effort: 'max' },
      NEW_CLAUDE,
      fields({ thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'max' } }),
    ],
    [
      'Nova 2',
      { effort: 'high' },
      NOVA_2,
      fields({ reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } }),
    ],
    [
      'Nova 2, enabled',
      { enabled: true },
      NOVA_2,
      fields({ reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } }),
    ],
    ['gpt-oss', { effort: 'minimal' }, GPT_OSS, fields({ reasoning_effort: 'low' })],
    ['gpt-oss, off', { effort: 'none' }, GPT_OSS, fields({ reasoning_effort: 'low' }, ['reasoning.effort'])],
    [
      'gpt-oss by tokens',
      { max_tokens: 9 },
      GPT_OSS,
      fields({ reasoning_effort: 'medium' }, ['reasoning.max_tokens']),
    ],
    ['DeepSeek V3', { effort: 'high' }, DEEPSEEK, fields({ reasoning_effort: 'high' })],
    ['DeepSeek R1 always does', { effort: 'high' }, 'us.deepseek.r1-v1:0', { dropped: [] }],
    ['others', { effort: 'high' }, OTHER, { dropped: ['reasoning'] }],
    ['off', { enabled: false }, OTHER, { dropped: [] }],
    ['hidden alone', { exclude: true }, NOVA_2, { dropped: [] }],
  ])('%s', (_, reasoning, model, expected) => expect<unknown>(beside({ reasoning }, model)).toEqual(expected))

  test.each([
    ['Claude', CLAUDE, { max_tokens: 2000 }, ['temperature', 'top_p', 'top_k']],
    ['Nova 2 at its highest', NOVA_2, { effort: 'high' }, ['temperature', 'top_p', 'top_k']],
  ])('%s accepts no sampling parameters while it thinks', (_, model, reasoning, dropped) => {
    const sent = beside({ reasoning, temperature: 0.2, top_p: 0.5, top_k: 4 }, model)
    expect(sent).toEqual({ additionalModelRequestFields: expect.any(Object), dropped })
  })

  test('Nova’s highest effort accepts no bound: with one the next effort is sent', () => {
    expect(beside({ reasoning: { effort: 'high' }, max_tokens: 50 }, NOVA_2)).toEqual({
      inferenceConfig: { maxTokens: 50 },
      additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } },
      dropped: ['reasoning.effort'],
    })
  })

  test('a model that does not reason gets no reasoning fields', () => {
    const facts = { supportedParameters: ['temperature'] }
    expect(beside({ reasoning: { effort: 'high' } }, GPT_OSS, facts)).toEqual({ dropped: ['reasoning'] })
  })

  test('an application’s profile is known by its model', () => {
    const arn = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/abc'
    const facts = { modelId: 'anthropic/claude-sonnet-4.5' }
    expect(beside({ reasoning: { max_tokens: 1500 } }, arn, facts)).toEqual(
      fields({ thinking: { type: 'enabled', budget_tokens: 1500 } }),
    )
  })
})

describe('tools', () => {
  const TOOL = { type: 'function', function: { name: 'f', description: 'F', parameters: { type: 'object' } } }
  const SPEC = { toolSpec: { name: 'f', description: 'F', inputSchema: { json: { type: 'object' } } } }
  const config = (toolConfig: JsonObject, dropped: string[] = []) => ({ toolConfig, dropped })

  test.each<[what: string, fields: JsonObject, model: string, expected: JsonObject]>([
    ['a function', {}, CLAUDE, config({ tools: [SPEC] })],
    ['auto', { tool_choice: 'auto' }, CLAUDE, config({ tools: [SPEC], toolChoice: { auto: {} } })],
    ['required', { tool_choice: 'required' }, CLAUDE, config({ tools: [SPEC], toolChoice: { any: {} } })],
    [
      'this one',
      { tool_choice: { type: 'function', function: { name: 'f' } } },
      CLAUDE,
      config({ tools: [SPEC], toolChoice: { tool: { name: 'f' } } }),
    ],
    ['none', { tool_choice: 'none' }, CLAUDE, { dropped: ['tools'] }],
    [
      'required, of a model that cannot',
      { tool_choice: 'required' },
      LLAMA,
      config({ tools: [SPEC] }, ['tool_choice']),
    ],
    [
      'one at a time',
      { parallel_tool_calls: false },
      CLAUDE,
      config({ tools: [SPEC] }, ['parallel_tool_calls']),
    ],
    [
      'a forced tool excludes thinking',
      { tool_choice: 'required', reasoning: { max_tokens: 2000 } },
      CLAUDE,
      config({ tools: [SPEC], toolChoice: { any: {} } }, ['reasoning']),
    ],
    [
      'of V3, too',
      { tool_choice: 'required', reasoning: { effort: 'high' } },
      DEEPSEEK,
      config({ tools: [SPEC], toolChoice: { any: {} } }, ['reasoning']),
    ],
  ])('%s', (_, fields, model, expected) =>
    expect<unknown>(beside({ tools: [TOOL], ...fields }, model)).toEqual(expected),
  )

  test('functions: a bare one, a strict one, one with a marker', () => {
    const tools = [
      { type: 'function', function: { name: 'a.b', description: ' ' } },
      { type: 'function', function: { name: 'c', strict: true }, cache_control: { type: 'ephemeral' } },
    ]
    const empty = { json: { type: 'object', properties: {} } }
    expect(beside({ tools }, CLAUDE)).toEqual(
      config({
        tools: [
          { toolSpec: { name: 'a_x2e_b', inputSchema: empty } },
          { toolSpec: { name: 'c', inputSchema: empty, strict: true } },
          { cachePoint: { type: 'default' } },
        ],
      }),
    )
    expect(beside({ tools }, NOVA).dropped).toEqual(['tools.strict', 'cache_control'])
  })

  test('tools of AWS, and search for Nova 2', () => {
    const own = { type: 'system', systemTool: { name: 'nova_code_interpreter' } }
    const tools = [TOOL, own, { type: 'web_search_preview' }]
    expect(beside({ tools, web_search_options: {} }, NOVA_2)).toEqual(
      config(
        {
          tools: [
            SPEC,
            { systemTool: { name: 'nova_code_interpreter' } },
            { systemTool: { name: 'nova_grounding' } },
          ],
        },
        ['tools.web_search_preview'],
      ),
    )
    expect(beside({ web_search_options: {} }, CLAUDE)).toEqual({ dropped: ['web_search_options'] })
  })

  test('tools of earlier calls are declared if the request has none', () => {
    const messages = [
      HI,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 't', type: 'function', function: { name: 'old', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 't', content: 'x' },
    ]
    const old = { toolSpec: { name: 'old', inputSchema: { json: { type: 'object', properties: {} } } } }
    expect(build({ messages }).body['toolConfig']).toEqual({ tools: [old] })
    const none = build({ messages, tools: [TOOL], tool_choice: 'none' })
    expect(none.body['toolConfig']).toEqual({ tools: [SPEC] })
    expect(none.dropped).toEqual(['tool_choice'])
  })
})

test('the request is never changed', () => {
  const body = {
    model: 'm',
    messages: [HI, { role: 'assistant', content: 'So, ' }],
    tools: [],
    max_tokens: 5,
  }
  const request = chatIngress.parse(body, new Headers())
  const before = structuredClone(request)
  converseEgress.build(request, attemptOf())
  expect(request).toEqual(before)
})
