import { describe, expect, test } from 'bun:test'
import type { Attempt } from '../../../src/core/attempt.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import type { Message } from '../../../src/core/request.ts'
import type { EndpointRecord } from '../../../src/core/snapshot.ts'
import { buildChat } from '../../../src/dialects/chat/build.ts'
import { parseChat } from '../../../src/dialects/chat/parse.ts'
import { parseMessages } from '../../../src/dialects/messages/parse.ts'
import { seal } from '../../../src/dialects/opaque.ts'
import { environmentProviders } from '../../../src/providers/environment.ts'
import { defaults } from '../../providers/defaults.ts'
import { REQUEST } from '../request.ts'

/** How Mistral, Perplexity, DeepSeek and others take the dialect otherwise, from the quirks of their rows. */

function attemptAt(key: string, facts: Partial<EndpointRecord> = {}): Attempt {
  const [provider] = environmentProviders({ [key]: 'secret-1' }, defaults).providers
  const credential = provider?.credentials[0]
  if (!provider || !credential) throw new Error(`${key} turns nothing on`)
  const endpoint: EndpointRecord = {
    id: 'v/m',
    providerSlug: provider.slug,
    modelId: 'v/m',
    upstreamId: 'm',
    contextLength: null,
    maxCompletionTokens: null,
    inputModalities: [],
    outputModalities: [],
    supportedParameters: null,
    pricing: null,
    quantization: null,
    isZdr: false,
    ...facts,
  }
  const model = { id: 'v/m', canonicalSlug: 'v/m', name: 'M', created: 0, endpoints: [endpoint] }
  return { model, endpoint, provider, credential, dialect: 'chat' }
}

interface Row {
  name: string
  asked: JsonObject
  facts?: Partial<EndpointRecord>
  sent?: JsonObject
  dropped?: string[]
}

const USER = { role: 'user', content: 'Hi' }
const assistant = (more: JsonObject) => ({ role: 'assistant', ...more })
const fn = (name: string) => ({ type: 'function', function: { name } })
const call = (id: string) => ({ id, type: 'function', function: { name: 'tide', arguments: '{}' } })
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: '14:20', name: 'tide' })
const withParameters = {
  type: 'function',
  function: { name: 'tide', parameters: { type: 'object', properties: {} } },
}
const text = (said: string) => ({ type: 'text', text: said })
const thinking = (said: string) => ({ type: 'thinking', thinking: [text(said)] })

function table(key: string, rows: Row[]): void {
  test.each(rows.map((row) => [row.name, row] as const))('%s', (_, { asked, facts, sent, dropped }) => {
    const request = parseChat({ messages: [USER], ...asked }, new Headers())
    const before = JSON.stringify(request)
    const built = buildChat(request, attemptAt(key, facts))
    expect(JSON.stringify(request)).toBe(before)
    expect(built.body).toEqual({ model: 'm', messages: [USER], ...sent })
    expect(built.dropped.sort()).toEqual((dropped ?? []).sort())
  })
}

const SOME_OF_OPENAI = {
  logit_bias: { '1': 1 },
  top_logprobs: 2,
  logprobs: true,
  min_p: 0.1,
  service_tier: 'flex',
  user: 'u',
  verbosity: 'low',
}

describe('Mistral', () => {
  const reasoning = (efforts: string[] | null) => ({
    supportedParameters: ['reasoning'],
    reasoning: { efforts, takesBudget: false, mayBeOff: efforts !== null },
  })
  table('MISTRAL_API_KEY', [
    {
      name: 'its names of fields',
      asked: { seed: 7, max_completion_tokens: 9, stream: true, stream_options: { include_usage: true } },
      sent: { random_seed: 7, max_tokens: 9, stream: true },
    },
    { name: 'a temperature within', asked: { temperature: 1.5 }, sent: { temperature: 1.5 } },
    {
      name: 'a temperature beyond',
      asked: { temperature: 1.9 },
      sent: { temperature: 1.5 },
      dropped: ['temperature'],
    },
    { name: 'its own name wins', asked: { seed: 7, random_seed: 8 }, sent: { random_seed: 8 } },
    {
      name: 'what it refuses is left out and named',
      asked: { ...SOME_OF_OPENAI, top_k: 3, web_search_options: { search_context_size: 'low' } },
      dropped: [...Object.keys(SOME_OF_OPENAI), 'top_k', 'web_search_options'],
    },
    { name: 'what asks for nothing is left out', asked: { logprobs: false, user: '', logit_bias: {} } },
    {
      name: 'what it has, and what we do not know, goes on',
      asked: {
        safe_prompt: true,
        guardrails: [{ a: 1 }],
        prompt_cache_key: 'k',
        metadata: { a: 'b' },
        prediction: { type: 'content', content: 'x' },
        of_tomorrow: 1,
      },
      sent: {
        safe_prompt: true,
        guardrails: [{ a: 1 }],
        prompt_cache_key: 'k',
        metadata: { a: 'b' },
        prediction: { type: 'content', content: 'x' },
        of_tomorrow: 1,
      },
    },
    {
      name: 'any tool',
      asked: { tools: [fn('tide')], tool_choice: 'required' },
      sent: { tools: [withParameters], tool_choice: 'any' },
    },
    {
      name: 'one tool',
      asked: { tools: [fn('tide')], tool_choice: fn('tide'), parallel_tool_calls: false },
      sent: { tools: [withParameters], tool_choice: fn('tide'), parallel_tool_calls: false },
    },
    {
      name: 'ids of its own form stay, others become one of it, call and result alike',
      asked: {
        messages: [
          USER,
          assistant({ content: '', tool_calls: [call('uNfcQGgtW'), call('call_0123456789')] }),
          result('uNfcQGgtW'),
          result('call_0123456789'),
        ],
      },
      sent: {
        messages: [
          USER,
          assistant({ content: '', tool_calls: [call('uNfcQGgtW'), call('vUiPKJIsq')] }),
          result('uNfcQGgtW'),
          result('vUiPKJIsq'),
        ],
      },
    },
    {
      name: 'fields of messages that it refuses, marks for caches',
      asked: {
        messages: [
          { ...USER, name: 'ann' },
          assistant({ content: 'A', refusal: null, annotations: [], audio: { id: 'x' } }),
          { role: 'user', content: [{ ...text('B'), cache_control: { type: 'ephemeral' } }] },
        ],
        tools: [{ ...fn('tide'), cache_control: { type: 'ephemeral' } }],
        cache_control: { type: 'ephemeral' },
      },
      sent: {
        messages: [USER, assistant({ content: 'A' }), { role: 'user', content: [text('B')] }],
        tools: [withParameters],
      },
      dropped: ['messages.name', 'messages.audio', 'cache_control'],
    },
    {
      name: 'thoughts go back as parts',
      asked: {
        messages: [
          USER,
          assistant({
            content: '144',
            reasoning: 'Twelve dozens.',
            reasoning_details: [
              { type: 'reasoning.text', text: 'Twelve ', format: 'unknown', index: 0 },
              { type: 'reasoning.text', text: 'dozens.', format: 'unknown', index: 0 },
            ],
          }),
          USER,
          assistant({ content: null, reasoning_content: 'Call.', tool_calls: [call('abcdefghi')] }),
          result('abcdefghi'),
        ],
      },
      sent: {
        messages: [
          USER,
          assistant({ content: [thinking('Twelve dozens.'), text('144')] }),
          USER,
          assistant({ content: [thinking('Call.')], tool_calls: [call('abcdefghi')] }),
          result('abcdefghi'),
        ],
      },
    },
    {
      name: 'parts that are thoughts already stay, signed ones of others cannot go',
      asked: {
        messages: [
          assistant({ content: [thinking('T'), text('A')], reasoning: 'T' }),
          USER,
          assistant({
            content: 'B',
            reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', format: 'openai-responses-v1' }],
          }),
          USER,
        ],
      },
      sent: {
        messages: [
          assistant({ content: [thinking('T'), text('A')] }),
          USER,
          assistant({ content: 'B' }),
          USER,
        ],
      },
      dropped: ['messages.reasoning_details'],
    },
    {
      name: 'a model that does not reason gets no thoughts',
      asked: { messages: [assistant({ content: 'A', reasoning: 'T' }), USER] },
      facts: { supportedParameters: [] },
      sent: { messages: [assistant({ content: 'A' }), USER] },
      dropped: ['messages.reasoning'],
    },
    {
      name: 'files and sounds',
      asked: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'file', file: { file_data: 'https://x.example/a.pdf', filename: 'a.pdf' } },
              { type: 'file', file: { file_id: 'f1' } },
              { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
            ],
          },
        ],
      },
      sent: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'document_url', document_url: 'https://x.example/a.pdf', document_name: 'a.pdf' },
              { type: 'file', file_id: 'f1' },
              { type: 'input_audio', input_audio: 'UklGRg==' },
            ],
          },
        ],
      },
    },
    {
      name: 'a user who speaks right after a tool',
      asked: {
        messages: [
          USER,
          assistant({ content: '', tool_calls: [call('abcdefghi')] }),
          result('abcdefghi'),
          USER,
        ],
      },
      sent: {
        messages: [
          USER,
          assistant({ content: '', tool_calls: [call('abcdefghi')] }),
          result('abcdefghi'),
          assistant({ content: 'OK.' }),
          USER,
        ],
      },
      dropped: ['messages.role'],
    },
    {
      name: 'a begun answer is a prefix',
      asked: { messages: [USER, assistant({ content: 'Sure' })] },
      sent: { messages: [USER, assistant({ content: 'Sure', prefix: true })] },
    },
    ...(['minimal', 'low', 'medium', 'high', 'max'] as const).map((effort) => ({
      name: `effort ${effort}`,
      asked: { reasoning: { effort } },
      sent: { reasoning_effort: 'high' },
    })),
    { name: 'reasoning on', asked: { reasoning: { enabled: true } }, sent: { reasoning_effort: 'high' } },
    { name: 'reasoning off', asked: { reasoning: { enabled: false } }, sent: { reasoning_effort: 'none' } },
    {
      name: 'an effort that the model has',
      asked: { reasoning_effort: 'medium' },
      facts: reasoning(['none', 'low', 'medium', 'high']),
      sent: { reasoning_effort: 'medium' },
    },
    {
      name: 'a model that always reasons is asked by its mode',
      asked: { reasoning: { effort: 'high', max_tokens: 9 } },
      facts: reasoning(null),
      sent: { prompt_mode: 'reasoning' },
      dropped: ['reasoning.effort', 'reasoning.max_tokens'],
    },
    {
      name: 'and cannot be kept from it',
      asked: { reasoning: { enabled: false } },
      facts: reasoning(null),
      dropped: ['reasoning.enabled'],
    },
    {
      name: 'the mode in its own words',
      asked: { prompt_mode: null, reasoning: { enabled: true } },
      facts: reasoning(null),
      sent: { prompt_mode: 'reasoning' },
    },
  ])

  test('thoughts of callers of other dialects go back too', () => {
    const messages: Message[] = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'A', reasoning: 'T' },
      { role: 'user', content: 'Hi' },
    ]
    const { body, dropped } = buildChat(
      { ...REQUEST, dialect: 'messages', messages },
      attemptAt('MISTRAL_API_KEY'),
    )
    expect(body.messages).toEqual([USER, assistant({ content: [thinking('T'), text('A')] }), USER])
    expect(dropped).toEqual([])
  })
})

describe('Perplexity', () => {
  const schema = { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } }
  const research = {
    supportedParameters: ['reasoning'],
    reasoning: { efforts: ['minimal', 'low', 'medium', 'high'], takesBudget: false, mayBeOff: false },
  }
  const own = {
    search_mode: 'academic',
    search_domain_filter: ['-x.example'],
    web_search_options: { search_context_size: 'high' },
    return_images: true,
    return_related_questions: true,
  }
  table('PERPLEXITY_API_KEY', [
    { name: 'its own fields', asked: own, sent: own },
    {
      name: 'streams are asked for usage',
      asked: { stream: true, top_k: 3, temperature: 0.2 },
      sent: { stream: true, stream_options: { include_usage: true }, top_k: 3, temperature: 0.2 },
    },
    {
      name: 'what it would ignore is named',
      asked: { ...SOME_OF_OPENAI, stop: ['x'], seed: 7, n: 2, metadata: { a: 'b' } },
      dropped: [...Object.keys(SOME_OF_OPENAI), 'stop', 'seed', 'n', 'metadata'],
    },
    { name: 'one choice is what it gives', asked: { n: 1 } },
    {
      name: 'no tools',
      asked: { tools: [fn('tide')], tool_choice: 'required', parallel_tool_calls: false },
      dropped: ['tools', 'tool_choice'],
    },
    { name: 'a schema', asked: { response_format: schema }, sent: { response_format: schema } },
    {
      name: 'JSON without a schema',
      asked: { response_format: { type: 'json_object' } },
      dropped: ['response_format'],
    },
    { name: 'text', asked: { response_format: { type: 'text' } } },
    {
      name: 'an effort',
      asked: { reasoning: { effort: 'max' } },
      facts: research,
      sent: { reasoning_effort: 'high' },
    },
    {
      name: 'research cannot be kept from reasoning',
      asked: { reasoning: { effort: 'none' } },
      facts: research,
      dropped: ['reasoning.effort'],
    },
    {
      name: 'roles alternate',
      asked: {
        messages: [
          { role: 'developer', content: 'D' },
          USER,
          { role: 'user', content: [text('Look'), { type: 'image_url', image_url: { url: 'https://x/a' } }] },
          assistant({ content: 'A' }),
          assistant({ content: 'B' }),
          { role: 'system', content: 'S' },
          USER,
        ],
      },
      sent: {
        messages: [
          { role: 'system', content: 'D' },
          { role: 'system', content: 'S' },
          {
            role: 'user',
            content: [text('Hi'), text('Look'), { type: 'image_url', image_url: { url: 'https://x/a' } }],
          },
          assistant({ content: 'A\n\nB' }),
          USER,
        ],
      },
      dropped: ['messages.role'],
    },
    {
      name: 'calls and results of former turns, thoughts',
      asked: {
        messages: [
          USER,
          assistant({ content: null, tool_calls: [call('a')] }),
          result('a'),
          assistant({ content: 'At 14:20.', reasoning: 'So.', tool_calls: [] }),
          USER,
        ],
      },
      sent: {
        messages: [{ role: 'user', content: 'Hi\n\n14:20' }, assistant({ content: 'At 14:20.' }), USER],
      },
      dropped: ['messages.tool_calls', 'messages.role', 'messages.reasoning'],
    },
  ])
})

describe('OpenAI', () => {
  const metadata = { run: '7' }
  table('OPENAI_API_KEY', [
    { name: 'metadata of what is not stored', asked: { metadata }, dropped: ['metadata'] },
    { name: 'metadata of what is stored', asked: { metadata, store: true }, sent: { metadata, store: true } },
    { name: 'no metadata', asked: { metadata: {} } },
  ])
})

describe('DeepSeek, and vendors that want thoughts back as `reasoning_content`', () => {
  const calls = [call('call_1')]
  const asked = (...turns: JsonObject[]) => ({ messages: [USER, ...turns, result('call_1')] })
  table('DEEPSEEK_API_KEY', [
    {
      name: 'what a caller replays in the words of this API',
      asked: asked(assistant({ content: null, reasoning: 'Look.', tool_calls: calls })),
      sent: asked(assistant({ content: null, reasoning_content: 'Look.', tool_calls: calls })),
    },
    {
      name: 'its details',
      asked: asked(
        assistant({
          content: 'A',
          reasoning_details: [{ type: 'reasoning.text', text: 'Look.', format: 'unknown', index: 0 }],
          tool_calls: calls,
        }),
      ),
      sent: asked(assistant({ content: 'A', reasoning_content: 'Look.', tool_calls: calls })),
    },
    {
      name: 'what a caller wrote in its own words',
      asked: asked(assistant({ content: 'A', reasoning: 'x', reasoning_content: 'Own.', tool_calls: calls })),
      sent: asked(assistant({ content: 'A', reasoning_content: 'Own.', tool_calls: calls })),
    },
    {
      name: 'a turn of another model: the field stands there all the same',
      asked: asked(
        assistant({ content: 'Hi' }),
        USER,
        assistant({
          content: null,
          reasoning_details: [
            { type: 'reasoning.text', text: 'T', signature: 's', format: 'anthropic-claude-v1' },
          ],
          tool_calls: calls,
        }),
      ),
      sent: asked(
        assistant({ content: 'Hi' }),
        USER,
        assistant({ content: null, reasoning_content: '', tool_calls: calls }),
      ),
      facts: { supportedParameters: ['tools', 'reasoning'] },
      dropped: ['messages.reasoning_details'],
    },
    {
      name: 'nothing is known of the model: only what there is',
      asked: asked(assistant({ content: null, tool_calls: calls })),
      sent: asked(assistant({ content: null, tool_calls: calls })),
    },
    {
      name: 'a model that does not reason is told none',
      asked: asked(assistant({ content: null, reasoning: 'Look.', tool_calls: calls })),
      facts: { supportedParameters: ['tools'] },
      sent: asked(assistant({ content: null, tool_calls: calls })),
      dropped: ['messages.reasoning'],
    },
  ])
})

describe('a conversation that came in another dialect', () => {
  const picture = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB' }
  const body = {
    model: 'm',
    max_tokens: 99,
    messages: [
      USER,
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'First.', signature: seal({}) },
          { type: 'tool_use', id: 'abcdefghi', name: 'tide', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'abcdefghi', content: [{ type: 'image', source: picture }] },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Second.', signature: seal({}) },
          { type: 'text', text: 'High.' },
        ],
      },
      USER,
    ],
  }
  const turnsAt = (key: string): unknown[] => {
    const { messages } = buildChat(parseMessages(body, new Headers()), attemptAt(key)).body
    return Array.isArray(messages) ? messages.filter(({ role }) => role === 'assistant') : []
  }

  test('thoughts stay with their turns, though a picture of a tool is a message more', () => {
    expect(turnsAt('MISTRAL_API_KEY')).toEqual([
      assistant({ content: [thinking('First.')], tool_calls: [call('abcdefghi')] }),
      // The word that Mistral wants between a tool and the user.
      assistant({ content: 'OK.' }),
      assistant({ content: [thinking('Second.'), text('High.')] }),
    ])
    expect(turnsAt('MOONSHOT_API_KEY')).toEqual([
      assistant({ content: null, reasoning_content: 'First.', tool_calls: [call('abcdefghi')] }),
      assistant({ content: 'High.', reasoning_content: 'Second.' }),
    ])
  })
})
