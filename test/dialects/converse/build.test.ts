import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../src/core/errors.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import type { EndpointRecord } from '../../../src/core/snapshot.ts'
import { chatIngress } from '../../../src/dialects/chat/index.ts'
import { converseEgress } from '../../../src/dialects/converse/index.ts'
import { attemptOf } from './attempt.ts'

const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const OLD_CLAUDE = 'anthropic.claude-3-haiku-20240307-v1:0'
const NEW_CLAUDE = 'eu.anthropic.claude-opus-4-8'
const NOVA = 'us.amazon.nova-pro-v1:0'
const NOVA_2 = 'us.amazon.nova-2-lite-v1:0'
const GPT_OSS = 'openai.gpt-oss-120b-1:0'
const LLAMA = 'us.meta.llama3-3-70b-instruct-v1:0'
const DEEPSEEK = 'deepseek.v3-v1:0'
const OTHER = 'qwen.qwen3-32b-v1:0'

const HI = { role: 'user', content: 'Hi' }
const SAID = { role: 'user', content: [{ text: 'Hi' }] }

function build(
  fields: JsonObject,
  model = CLAUDE,
  facts: Partial<EndpointRecord> = {},
  outputBound?: number,
) {
  const request = chatIngress.parse({ model: 'm', messages: [HI], ...fields }, new Headers())
  return converseEgress.build(request, attemptOf(model, facts, outputBound))
}

/** What is sent beside the one message, and what is named as left out. */
function beside(fields: JsonObject, model?: string, facts?: Partial<EndpointRecord>): JsonObject {
  const { body, dropped } = build(fields, model, facts)
  const { messages, ...rest } = body
  expect(messages).toEqual([SAID])
  return { ...rest, dropped }
}

describe('the address', () => {
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
    expect(call.body).toEqual({ messages: [SAID] })
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
  ])('%s takes no sampling parameters while it thinks', (_, model, reasoning, dropped) => {
    const told = beside({ reasoning, temperature: 0.2, top_p: 0.5, top_k: 4 }, model)
    expect(told).toEqual({ additionalModelRequestFields: expect.any(Object), dropped })
  })

  test('Nova’s highest effort takes no bound: with one it is the next', () => {
    expect(beside({ reasoning: { effort: 'high' }, max_tokens: 50 }, NOVA_2)).toEqual({
      inferenceConfig: { maxTokens: 50 },
      additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } },
      dropped: ['reasoning.effort'],
    })
  })

  test('a model that is known not to reason is not asked to', () => {
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

describe('messages', () => {
  const sent = (messages: JsonObject[], model?: string) => {
    const { body, dropped } = build({ messages }, model)
    return { system: body['system'], messages: body['messages'], dropped }
  }
  const call = (id: string, name = 'f', json = '{"a":1}') => ({
    id,
    type: 'function',
    function: { name, arguments: json },
  })
  const use = (toolUseId: string, name = 'f', input: JsonObject = { a: 1 }) => ({
    toolUse: { toolUseId, name, input },
  })
  const result = (toolUseId: string, text: string) => ({ toolResult: { toolUseId, content: [{ text }] } })

  test('instructions, at any place', () => {
    expect(
      sent([
        { role: 'system', content: 'A' },
        HI,
        {
          role: 'developer',
          content: [{ type: 'text', text: 'B', cache_control: { type: 'ephemeral', ttl: '1h' } }],
        },
      ]),
    ).toEqual({
      system: [{ text: 'A' }, { text: 'B' }, { cachePoint: { type: 'default', ttl: '1h' } }],
      messages: [SAID],
      dropped: [],
    })
  })

  test('instructions alone are a question', () => {
    expect(sent([{ role: 'system', content: 'Say hello' }])).toMatchObject({
      system: undefined,
      messages: [{ role: 'user', content: [{ text: 'Say hello' }] }],
    })
  })

  test('roles alternate: neighbours of one role are one turn, and blank texts are left out', () => {
    expect(
      sent([
        HI,
        { role: 'user', content: ' \n' },
        { role: 'user', content: 'you' },
        { role: 'assistant', content: '' },
      ]).messages,
    ).toEqual([{ role: 'user', content: [{ text: 'Hi' }, { text: 'you' }] }])
  })

  test('results of parallel calls are in one turn, with the next text of the user', () => {
    expect(
      sent([
        HI,
        { role: 'assistant', content: null, tool_calls: [call('t1'), call('t2', 'files.read', '')] },
        { role: 'tool', tool_call_id: 't1', content: 'one' },
        { role: 'tool', tool_call_id: 't2', content: '', is_error: true },
        { role: 'user', content: 'Well?' },
      ]).messages,
    ).toEqual([
      SAID,
      { role: 'assistant', content: [use('t1'), use('t2', 'files_x2e_read', {})] },
      {
        role: 'user',
        content: [
          result('t1', 'one'),
          { toolResult: { toolUseId: 't2', content: [{ text: '(empty)' }], status: 'error' } },
          { text: 'Well?' },
        ],
      },
    ])
  })

  test('an image in a result, and a mark in it', () => {
    const content = [
      { type: 'text', text: 'see' },
      {
        type: 'image_url',
        image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' },
        cache_control: { type: 'ephemeral' },
      },
    ]
    const messages = [
      HI,
      { role: 'assistant', content: null, tool_calls: [call('t1')] },
      { role: 'tool', tool_call_id: 't1', content },
    ]
    expect(sent(messages).messages).toMatchObject([
      {},
      {},
      {
        content: [
          {
            toolResult: {
              toolUseId: 't1',
              content: [{ text: 'see' }, { image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } }],
            },
          },
          { cachePoint: { type: 'default' } },
        ],
      },
    ])
  })

  test('ids of other providers, and arguments that are no object', () => {
    const messages = [
      HI,
      { role: 'assistant', content: null, tool_calls: [call('call.1', 'f', 'not json')] },
      { role: 'tool', tool_call_id: 'call.1', content: 'one' },
    ]
    const json = JSON.stringify(sent(messages).messages)
    const [id] = /call_1_[0-9a-f]{16}/.exec(json) ?? []
    expect(sent(messages).messages).toEqual([
      SAID,
      { role: 'assistant', content: [use(id ?? '', 'f', { INVALID_JSON: 'not json' })] },
      { role: 'user', content: [result(id ?? '', 'one')] },
    ])
  })

  describe('former thoughts', () => {
    const details = [
      { type: 'reasoning.text', text: 'Hm', index: 0 },
      { type: 'reasoning.text', signature: 'c2ln', format: 'anthropic-claude-v1', index: 0 },
      { type: 'reasoning.encrypted', data: 'EkgSecret==', format: 'anthropic-claude-v1', index: 1 },
    ]
    const answer = { role: 'assistant', content: 'So.', reasoning: 'Hm', reasoning_details: details }

    test('go back to Claude, in order', () => {
      expect(sent([HI, answer, HI])).toMatchObject({
        messages: [
          SAID,
          {
            role: 'assistant',
            content: [
              { reasoningContent: { reasoningText: { text: 'Hm', signature: 'c2ln' } } },
              { reasoningContent: { redactedContent: Buffer.from('EkgSecret==').toString('base64') } },
              { text: 'So.' },
            ],
          },
          SAID,
        ],
        dropped: [],
      })
    })

    test('stay here for others, by name', () => {
      const { messages, dropped } = sent([HI, answer, HI], GPT_OSS)
      expect(messages).toEqual([SAID, { role: 'assistant', content: [{ text: 'So.' }] }, SAID])
      expect(dropped).toEqual(['messages.reasoning_details'])
    })

    test('of another provider are not Claude’s', () => {
      const foreign = [{ type: 'reasoning.encrypted', data: 'x', format: 'google-gemini-v1' }]
      expect(sent([HI, { ...answer, reasoning_details: foreign }, HI]).dropped).toEqual([
        'messages.reasoning_details',
      ])
    })
  })

  test('caching marks are points behind what they mark; a mark on the body is one at the end', () => {
    const content = [
      { type: 'text', text: 'long', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'short' },
    ]
    const { body, dropped } = build({
      messages: [{ role: 'user', content }],
      cache_control: { type: 'ephemeral' },
    })
    const point = { cachePoint: { type: 'default' } }
    expect(body['messages']).toEqual([
      { role: 'user', content: [{ text: 'long' }, point, { text: 'short' }, point] },
    ])
    expect(dropped).toEqual([])
    for (const model of [LLAMA, OLD_CLAUDE]) {
      expect(build({ messages: [{ role: 'user', content }] }, model)).toMatchObject({
        body: { messages: [{ content: [{ text: 'long' }, { text: 'short' }] }] },
        dropped: ['cache_control'],
      })
    }
  })

  test('an image in instructions or in a former answer is named', () => {
    const content = [
      { type: 'text', text: 'A' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
    ]
    expect(sent([{ role: 'system', content }, HI, { role: 'assistant', content }, HI])).toEqual({
      system: [{ text: 'A' }],
      messages: [SAID, { role: 'assistant', content: [{ text: 'A' }] }, SAID],
      dropped: ['messages.content'],
    })
  })

  test('a time that a model does not cache for is named', () => {
    const messages = [{ ...HI, cache_control: { type: 'ephemeral', ttl: '1h' } }]
    const point = (cachePoint: JsonObject) => [{ role: 'user', content: [{ text: 'Hi' }, { cachePoint }] }]
    expect(sent(messages)).toMatchObject({ messages: point({ type: 'default', ttl: '1h' }), dropped: [] })
    for (const model of [NOVA, 'us.anthropic.claude-3-7-sonnet-20250219-v1:0']) {
      const short = { messages: point({ type: 'default' }), dropped: ['cache_control.ttl'] }
      expect(sent(messages, model)).toMatchObject(short)
    }
  })

  test('a status that a model does not take is named', () => {
    const messages = [
      HI,
      { role: 'assistant', content: null, tool_calls: [call('t1')] },
      { role: 'tool', tool_call_id: 't1', content: 'no', is_error: true },
    ]
    const { messages: turns, dropped } = sent(messages, LLAMA)
    expect(turns).toMatchObject([{}, {}, { content: [{ toolResult: { content: [{ text: 'no' }] } }] }])
    expect(JSON.stringify(turns)).not.toContain('status')
    expect(dropped).toEqual(['messages.is_error'])
  })

  test('an answer that is begun ends without white space', () => {
    expect(sent([HI, { role: 'assistant', content: 'So, ' }]).messages).toEqual([
      SAID,
      { role: 'assistant', content: [{ text: 'So,' }] },
    ])
  })

  test('nothing to answer is a 400', () => {
    expect(() => build({ messages: [{ role: 'user', content: ' ' }] })).toThrow(
      expect.objectContaining({ status: 400, message: expect.stringMatching(/^messages: /) }),
    )
  })
})

describe('content', () => {
  const partOf = (part: JsonObject, model?: string, facts?: Partial<EndpointRecord>) => {
    const { body, dropped } = build(
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'See' }, part] }] },
      model,
      facts,
    )
    const [turn] = Array.isArray(body['messages']) ? body['messages'] : []
    return { block: turn?.content?.[1], dropped }
  }
  const file = (file_data: string, filename?: string) => ({ type: 'file', file: { file_data, filename } })
  const document = (format: string, name: string, bytes: string) => ({
    document: { format, name, source: { bytes } },
  })
  const image = (url: string) => ({ type: 'image_url', image_url: { url } })
  const TEXT = Buffer.from('a,b').toString('base64')

  test.each<[what: string, part: JsonObject, block: JsonObject]>([
    [
      'jpeg',
      image('data:image/jpeg;base64,/9j/4A=='),
      { image: { format: 'jpeg', source: { bytes: '/9j/4A==' } } },
    ],
    [
      'jpg',
      image('data:image/jpg;base64,/9j/4A=='),
      { image: { format: 'jpeg', source: { bytes: '/9j/4A==' } } },
    ],
    [
      'webp',
      image('data:image/webp;base64,UklGRgAAAABXRUJQVlA4'),
      { image: { format: 'webp', source: { bytes: 'UklGRgAAAABXRUJQVlA4' } } },
    ],
    [
      'an image that lies in S3',
      image('s3://bucket/a/b.png'),
      { image: { format: 'png', source: { s3Location: { uri: 's3://bucket/a/b.png' } } } },
    ],
    [
      'a video',
      { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } },
      { video: { format: 'mp4', source: { bytes: 'AAAA' } } },
    ],
    [
      'sound',
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      { audio: { format: 'wav', source: { bytes: 'AAAA' } } },
    ],
    [
      'a PDF',
      file('data:application/pdf;base64,JVBE', 'My report (1).pdf'),
      document('pdf', 'My report (1)', 'JVBE'),
    ],
    ['bare base64 is a PDF', file('JVBE'), document('pdf', 'document', 'JVBE')],
    [
      'a name with other signs',
      file('data:application/pdf;base64,JVBE', 'a_b/ü  c.pdf'),
      document('pdf', 'a b c', 'JVBE'),
    ],
    ['text that is not base64', file('data:text/csv,a%2Cb', 't.csv'), document('csv', 't', TEXT)],
    ['source code', file(`data:application/json;base64,${TEXT}`, 'x.json'), document('txt', 'x', TEXT)],
    [
      'a spreadsheet',
      file('data:application/vnd.openxmlformats-officedocument.spreadsheetml.sheet;base64,AAAA', 's.xlsx'),
      document('xlsx', 's', 'AAAA'),
    ],
    [
      'an image as a file',
      file('data:image/gif;base64,AAAA'),
      { image: { format: 'gif', source: { bytes: 'AAAA' } } },
    ],
  ])('%s', (_, part, block) => expect<unknown>(partOf(part)).toEqual({ block, dropped: [] }))

  test.each<[what: string, part: JsonObject, name: string]>([
    ['a file by its id', { type: 'file', file: { file_id: 'f1' } }, 'content.file'],
    ['a file of no kind that is taken', file('data:application/zip;base64,AAAA', 'a.zip'), 'content.file'],
    ['a part of no known type', { type: 'hologram' }, 'content.hologram'],
  ])('%s is named', (_, part, name) =>
    expect<unknown>(partOf(part)).toEqual({ block: undefined, dropped: [name] }),
  )

  test('sound for a model that is known not to hear', () => {
    const part = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
    expect(partOf(part, CLAUDE, { inputModalities: ['text', 'image'] }).dropped).toEqual([
      'content.input_audio',
    ])
  })

  test('two documents of one name get different names, and one without a text beside it gets its name as text', () => {
    const part = file('data:application/pdf;base64,JVBE', 'a.pdf')
    const { body } = build({ messages: [{ role: 'user', content: [part, part] }] })
    expect(body['messages']).toEqual([
      {
        role: 'user',
        content: [{ text: 'a' }, document('pdf', 'a', 'JVBE'), document('pdf', 'a 2', 'JVBE')],
      },
    ])
  })

  test.each<[what: string, part: JsonObject, says: RegExp]>([
    [
      'an address on the web',
      image('https://a.example/x.png'),
      /^messages\[0\]\.content\[1\]\.image_url\.url: must be a data URL/,
    ],
    [
      'an image that Converse does not take',
      image('data:image/bmp;base64,Qk0AAAAA'),
      /^messages\[0\]\.content\[1\]\.image_url\.url: .*png, jpeg, gif, webp/,
    ],
    ['an image without data', image('data:image/png;base64,'), /must be the base64 of an image/],
    ['a file on the web', file('https://a.example/x.pdf'), /^messages\[0\]\.content\[1\]\.file\.file_data: /],
  ])('%s is a 400 that names the field', (_, part, says) => {
    let error: unknown
    try {
      partOf(part)
    } catch (thrown) {
      error = thrown
    }
    if (!(error instanceof GatewayError)) throw new Error('was built')
    expect(error.status).toBe(400)
    expect(error.message).toMatch(says)
  })

  test('addresses on the web are fetched before', () => {
    const needs = (url: string) => converseEgress.needsContent?.('image', url, attemptOf())
    expect([
      needs('https://a.example/x.png'),
      needs('s3://b/x.png'),
      needs('data:image/png;base64,AA'),
    ]).toEqual([true, false, false])
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

  test('a bare function, a strict one, one with a mark', () => {
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

  test('tools of AWS’s own, and search for Nova 2', () => {
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

  test('calls of the conversation are declared where no tool is sent', () => {
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

describe('a JSON schema for the answer', () => {
  const schema = { type: 'object', properties: { a: { type: 'integer', minimum: 1 } }, required: ['a'] }
  const format = { type: 'json_schema', json_schema: { name: 'n', description: 'D', schema } }
  const TOOL = { type: 'function', function: { name: 'f' } }
  const SPEC = { toolSpec: { name: 'f', inputSchema: { json: { type: 'object', properties: {} } } } }
  const ANSWER = {
    toolSpec: { name: 'answer_in_json', description: expect.any(String), inputSchema: { json: schema } },
  }

  test('is one of the API where the model has it, closed as it wants it', () => {
    const strict = {
      type: 'object',
      properties: { a: { type: 'integer', description: '{"minimum":1}' } },
      required: ['a'],
      additionalProperties: false,
    }
    const { outputConfig, dropped } = beside({ response_format: format }, CLAUDE)
    expect(dropped).toEqual([])
    const written = JSON.parse(JSON.stringify(outputConfig)).textFormat
    expect(written).toMatchObject({
      type: 'json_schema',
      structure: { jsonSchema: { name: 'n', description: 'D' } },
    })
    expect(JSON.parse(written.structure.jsonSchema.schema)).toEqual(strict)
    const facts = { supportedParameters: ['structured_outputs'] }
    expect(beside({ response_format: format }, OTHER, facts)).toMatchObject({ outputConfig: {}, dropped: [] })
  })

  test.each<[what: string, fields: JsonObject, model: string, expected: JsonObject]>([
    [
      'a tool where it has none',
      {},
      OLD_CLAUDE,
      { toolConfig: { tools: [ANSWER], toolChoice: { tool: { name: 'answer_in_json' } } }, dropped: [] },
    ],
    [
      'beside other tools, one of all',
      { tools: [TOOL] },
      OLD_CLAUDE,
      { toolConfig: { tools: [SPEC, ANSWER], toolChoice: { any: {} } }, dropped: [] },
    ],
    [
      'a forced tool excludes the answer tool',
      { tools: [TOOL], tool_choice: 'required' },
      OLD_CLAUDE,
      { toolConfig: { tools: [SPEC], toolChoice: { any: {} } }, dropped: ['response_format'] },
    ],
    ['nothing where no tool can be forced', {}, LLAMA, { dropped: ['response_format'] }],
  ])('%s', (_, fields, model, expected) =>
    expect<unknown>(beside({ response_format: format, ...fields }, model)).toEqual(expected),
  )

  test('JSON without a schema has no word', () => {
    expect(beside({ response_format: { type: 'json_object' } })).toEqual({ dropped: ['response_format'] })
    expect(beside({ response_format: { type: 'text' } })).toEqual({ dropped: [] })
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
