import { describe, expect, test } from 'bun:test'
import type { Attempt } from '../../../src/core/attempt.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import { carry } from '../../../src/dialects/responses/carried.ts'
import { responsesEgress, responsesIngress } from '../../../src/dialects/responses/index.ts'
import { attemptOf } from './attempt.ts'

/** Requests of callers that speak Responses: their bodies are sent unchanged. */

const built = (fields: JsonObject, attempt: Attempt = attemptOf()) =>
  responsesEgress.build(
    responsesIngress.parse({ model: 'lab/model', input: 'Hello', ...fields }, new Headers()),
    attempt,
  )

test('unknown fields are sent unchanged, at every level', () => {
  const body: JsonObject = {
    instructions: 'Be brief.',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'Hi', mood: 'calm' }], colour: 'red' },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: 'Hello',
        phase: 'commentary',
      },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
      { type: 'function_call', id: 'fc_1', call_id: 'a', name: 'f', arguments: '{}', flavour: 'sour' },
      { type: 'function_call_output', call_id: 'a', output: 'ok', weight: 1 },
    ],
    tools: [
      {
        type: 'function',
        name: 'f',
        parameters: { type: 'object', properties: {} },
        strict: null,
        shape: 'round',
      },
      { type: 'mcp', server_label: 's', server_url: 'https://mcp.example', require_approval: 'never' },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: false,
    text: { format: { type: 'text' }, verbosity: 'low', tone: 'warm' },
    truncation: 'auto',
    max_tool_calls: 3,
    include: ['web_search_call.action.sources'],
    metadata: { a: 'b' },
    user: 'u',
    prompt_cache_key: 'k',
    stream_options: { include_obfuscation: false },
    context_management: [{ type: 'compaction' }],
    tomorrow: { field: true },
  }
  const before = structuredClone(body)
  const call = built(body)
  expect(call.body).toEqual({ ...body, model: 'tide-1', store: false })
  expect(call.dropped).toEqual([])
  expect(body).toEqual(before)
})

/** Fields of the request, the fields added to the smallest body, and the names of dropped ones. */
type Row = [what: string, fields: JsonObject, body: JsonObject, dropped?: string[], attempt?: Attempt]

function table(rows: Row[]): void {
  test.each(rows.map((row) => [row[0], row] as const))('%s', (_, [, fields, body, dropped, attempt]) => {
    const call = built(fields, attempt)
    expect(call.body).toEqual({ model: 'tide-1', input: 'Hello', store: false, ...body })
    expect([...call.dropped].sort()).toEqual([...(dropped ?? [])].sort())
  })
}

const ENCRYPTED = 'reasoning.encrypted_content'
const reasoner = (efforts: string[] | null = null): Attempt =>
  attemptOf('tide-1', {
    supportedParameters: ['reasoning'],
    reasoning: { efforts, takesBudget: false, mayBeOff: true },
  })

describe('fields for the gateway', () => {
  table([
    ['state', { store: true, previous_response_id: 'resp_x', background: false }, {}],
    [
      'routing and tracing',
      {
        models: ['lab/other'],
        provider: { order: ['lab'] },
        session_id: 's',
        trace: { trace_id: 't' },
        debug: { echo_upstream_body: true },
      },
      {},
    ],
    ['nulls', { temperature: null, reasoning: null, service_tier: null, metadata: null, stream: null }, {}],
    ['a prompt that is kept elsewhere', { prompt: { id: 'pmpt_1' } }, {}, ['prompt']],
    ['the other word of a tier', { service_tier: 'fast' }, { service_tier: 'priority' }],
    ['streaming', { stream: true }, { stream: true }],
    ['not streaming', { stream: false }, { stream: false }],
    ['the bound', { max_output_tokens: 9000 }, { max_output_tokens: 9000 }],
    [
      'the bound of money',
      { max_output_tokens: 9000 },
      { max_output_tokens: 2000 },
      [],
      attemptOf(undefined, {}, { outputBound: 2000 }),
    ],
  ])
})

describe('parameters that a provider does not support', () => {
  const openai = attemptOf('tide-1', {}, { quirks: { responsesExtensions: false } })
  const extended = { top_k: 3, frequency_penalty: 1, presence_penalty: 1, image_config: { a: 'b' } }
  table([
    ['fields beyond the API, where they may be known', extended, extended],
    ['fields beyond the API', extended, {}, Object.keys(extended), openai],
    [
      'sampling of a model that takes none',
      { temperature: 1, top_p: 1, top_logprobs: 2, include: ['message.output_text.logprobs'] },
      { include: [ENCRYPTED] },
      ['temperature', 'top_p', 'top_logprobs', 'logprobs'],
      reasoner(),
    ],
    [
      'the role of developers',
      { input: [{ role: 'developer', content: 'x' }] },
      { input: [{ role: 'system', content: 'x' }] },
      [],
      attemptOf(undefined, {}, { quirks: { developerRole: false } }),
    ],
  ])
})

describe('reasoning', () => {
  table([
    ['comes back encrypted', {}, { include: [ENCRYPTED] }, [], reasoner()],
    [
      'is not asked for twice',
      { include: [ENCRYPTED, 'file_search_call.results'] },
      { include: [ENCRYPTED, 'file_search_call.results'] },
      [],
      reasoner(),
    ],
    [
      'is asked for as it came',
      { reasoning: { effort: 'low', summary: 'concise', context: 'all_turns', mode: 'pro', mood: 'calm' } },
      {
        reasoning: { effort: 'low', summary: 'concise', context: 'all_turns', mode: 'pro', mood: 'calm' },
        include: [ENCRYPTED],
      },
      [],
      reasoner(),
    ],
    [
      'is asked for in words that the model has',
      { reasoning: { effort: 'xhigh', max_tokens: 9 } },
      { reasoning: { effort: 'high' }, include: [ENCRYPTED] },
      ['reasoning.effort', 'reasoning.max_tokens'],
      reasoner(['low', 'high']),
    ],
    [
      'is shown only to who asks',
      { reasoning: { effort: 'low' } },
      { reasoning: { effort: 'low' }, include: [ENCRYPTED] },
      [],
      reasoner(),
    ],
    [
      'of a model that does not',
      { reasoning: { effort: 'low' } },
      {},
      ['reasoning'],
      attemptOf('tide-1', { supportedParameters: ['tools'] }),
    ],
  ])
})

describe('earlier reasoning', () => {
  const own = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'abc', status: 'completed' }
  const raw = { type: 'reasoning', id: 'r', summary: [], content: [{ type: 'reasoning_text', text: 'x' }] }
  const claude = [
    { type: 'reasoning.text', text: 'x', signature: 's', format: 'anthropic-claude-v1', index: 0 },
  ]
  const openai = [
    { type: 'reasoning.encrypted', data: 'abc', id: 'rs_1', format: 'openai-responses-v1', index: 0 },
  ]
  const sealed = (details: JsonObject[]) => ({
    type: 'reasoning',
    id: 'rs_s',
    summary: [],
    ...carry(details, [], { carrier: undefined, isAskedFor: false }),
  })
  const input = (...items: JsonObject[]) => ({ input: [...items, { role: 'user', content: 'Go on' }] })
  table([
    ['of the provider', input(own), input(own)],
    ['of an open model', input(raw), input(raw)],
    ['as a gateway marks it', input({ ...own, format: 'openai-responses-v1' }), input(own)],
    ['of xAI, as a gateway marks it', input({ ...own, format: 'xai-responses-v1' }), input(own)],
    ['a summary alone', input({ ...own, encrypted_content: null }), input(), ['input.reasoning']],
    ['of another provider', input({ ...raw, format: 'anthropic-claude-v1' }), input(), ['input.reasoning']],
    ['of another provider, sealed', input(sealed(claude)), input(), ['input.reasoning']],
    [
      "of a provider's, sealed",
      input(sealed(openai)),
      input({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'abc' }),
    ],
    [
      'of another provider, to a gateway',
      input({ ...raw, format: 'anthropic-claude-v1', signature: 's' }),
      input({ ...raw, format: 'anthropic-claude-v1', signature: 's' }),
      [],
      attemptOf(undefined, {}, { quirks: { reasoningField: 'reasoning' } }),
    ],
    [
      'calls of tools that the gateway ran',
      input({ type: 'openrouter:datetime', id: 'd', status: 'completed', datetime: 'x', timezone: 'UTC' }),
      input(),
      ['input.openrouter:datetime'],
    ],
  ])
})
