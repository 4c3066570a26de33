import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../src/core/errors.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import { parseChat } from '../../../src/dialects/chat/parse.ts'
import { HELLO } from './parsed.ts'

const NONE = new Headers()

function refusalOf(body: JsonObject, headers = NONE): string {
  try {
    parseChat(body, headers)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    expect(error.status).toBe(400)
    expect(error.metadata?.error_type).toBe('invalid_request')
    return error.message
  }
  throw new Error(`accepted: ${JSON.stringify(body).slice(0, 200)}`)
}

const message = (content: unknown) => ({ messages: [{ role: 'user', content }] })
const EFFORTS = '"max", "xhigh", "high", "medium", "low", "minimal", "none"'
const ROLES = '"system", "developer", "user", "assistant", "tool"'
const PLUGINS =
  '"auto-router", "auto-beta-router", "context-compression", "file-parser", "fusion", "moderation", "pareto-router", "response-healing", "switchyard-router", "web", "web-fetch"'

describe('messages are rejected with their path', () => {
  const rows: [JsonObject, string][] = [
    [{}, 'messages: is required and must be a list'],
    [{ messages: null }, 'messages: must be a list, not null'],
    [{ messages: 'hi' }, 'messages: must be a list, not "hi"'],
    [{ messages: [] }, 'messages: must have 1 to 20000 entries, not 0'],
    [{ messages: [7] }, 'messages[0]: must be an object, not 7'],
    [
      { messages: [{ role: 'wizard', content: '' }] },
      `messages[0].role: must be one of ${ROLES}, not "wizard"`,
    ],
    [{ messages: [{ content: '' }] }, `messages[0].role: is required and must be one of ${ROLES}`],
    [
      { messages: [...HELLO, { role: 'user' }] },
      'messages[1].content: is required and must be a string or a list',
    ],
    [message(null), 'messages[0].content: must be a string or a list, not null'],
    [message([{ type: 'text' }]), 'messages[0].content[0].text: is required and must be a string'],
    [message([{ type: 'text', text: 5 }]), 'messages[0].content[0].text: must be a string, not 5'],
    [
      message([{ type: 'text', text: '' }, { type: 'image_url' }]),
      'messages[0].content[1].image_url: is required and must be an object or a string that is not empty',
    ],
    [
      message([{ type: 'image_url', image_url: {} }]),
      'messages[0].content[0].image_url.url: is required and must be a string that is not empty',
    ],
    [
      message([{ type: 'input_audio', input_audio: { data: '' } }]),
      'messages[0].content[0].input_audio.format: is required and must be a string',
    ],
    [
      message([{ type: 'file', file: { filename: 'a.pdf' } }]),
      'messages[0].content[0].file: must have file_data (a data URL or an https URL) or file_id',
    ],
    ...Object.entries({
      [`data:image/png;base64,${btoa('words, and no image')}`]:
        'must be the base64 of an image, not of something else',
      'data:image/png;base64,JVBERi0xLjc=': 'must be the base64 of an image, not application/pdf',
      'data:image/png;base64,': 'must be the base64 of an image, not of something else',
      'data:text/plain;base64,aGVsbG8=':
        'must be a data URL of an image in base64: "data:image/png;base64,…"',
      words: 'must be an https URL or a data URL',
    }).flatMap(([url, says]): [JsonObject, string][] => [
      [message([{ type: 'image_url', image_url: { url } }]), `messages[0].content[0].image_url.url: ${says}`],
      [message([{ type: 'image_url', image_url: url }]), `messages[0].content[0].image_url: ${says}`],
    ]),
    [
      { messages: [...HELLO, { role: 'tool', tool_call_id: 'c1', content: '' }] },
      'messages[1].tool_call_id: answers no tool call of the messages before it',
    ],
    [
      message([{ type: 'video_url', video_url: 'x' }]),
      'messages[0].content[0].video_url: must be an object, not "x"',
    ],
    [
      message([{ type: 4 }]),
      'messages[0].content[0].type: must be "text" or "image_url" or "input_audio" or "file" or "video_url" or "input_video" or another string, not 4',
    ],
    [
      { messages: [{ role: 'tool', content: 'x' }] },
      'messages[0].tool_call_id: is required and must be a string that is not empty',
    ],
    [
      {
        messages: [{ role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: {} } }] }],
      },
      'messages[0].tool_calls[0].function.arguments: must be a string, not an object',
    ],
    [
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'a', type: 'function' }] }] },
      'messages[0].tool_calls[0].function: is required on a tool call of type "function"',
    ],
  ]
  test.each(rows)('%j', (body, sentence) => expect(refusalOf(body)).toBe(sentence))
})

describe('fields are rejected with the allowed values', () => {
  const rows: [JsonObject, string][] = [
    [{ model: 5 }, 'model: must be a string of 1 to 1000 characters, not 5'],
    [{ model: '' }, 'model: must not be empty'],
    [{ models: 'a/b' }, 'models: must be a list, not "a/b"'],
    [{ models: ['a/b', 1] }, 'models[1]: must be a string of 1 to 1000 characters, not 1'],
    [{ stream: 'yes' }, 'stream: must be true or false, not "yes"'],
    [{ temperature: 2.1 }, 'temperature: must be a number from 0 to 2, not 2.1'],
    [{ temperature: '1' }, 'temperature: must be a number from 0 to 2, not "1"'],
    [{ top_p: -0.1 }, 'top_p: must be a number from 0 to 1, not -0.1'],
    [{ top_k: 1.5 }, 'top_k: must be a whole number, not 1.5'],
    [{ frequency_penalty: -2.5 }, 'frequency_penalty: must be a number from -2 to 2, not -2.5'],
    [{ presence_penalty: 3 }, 'presence_penalty: must be a number from -2 to 2, not 3'],
    [{ max_tokens: 0 }, 'max_tokens: must be a whole number of at least 1, not 0'],
    [{ max_completion_tokens: 1.2 }, 'max_completion_tokens: must be a whole number of at least 1, not 1.2'],
    [{ n: 129 }, 'n: must be a whole number from 1 to 128, not 129'],
    [{ seed: '5' }, 'seed: must be a whole number, not "5"'],
    [{ stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop: must have at most 4 entries, not 5'],
    [{ stop: ['a', 2] }, 'stop[1]: must be a string, not 2'],
    [{ logit_bias: { '50256': 'x' } }, 'logit_bias[50256]: must be a number, not "x"'],
    [{ top_logprobs: 21 }, 'top_logprobs: must be a whole number from 0 to 20, not 21'],
    [{ modalities: ['video'] }, 'modalities[0]: must be one of "text", "image", "audio", not "video"'],
    [
      { service_tier: 'turbo' },
      'service_tier: must be one of "auto", "default", "flex", "priority", "scale", "fast", not "turbo"',
    ],
    [{ route: 'x' }, 'route: must be one of "fallback", "sort", not "x"'],
    [{ reasoning_effort: 'huge' }, `reasoning_effort: must be one of ${EFFORTS}, not "huge"`],
    [{ reasoning: { effort: 'huge' } }, `reasoning.effort: must be one of ${EFFORTS}, not "huge"`],
    [{ reasoning: { max_tokens: 0 } }, 'reasoning.max_tokens: must be a whole number of at least 1, not 0'],
    [
      { reasoning: { effort: 'low' }, reasoning_effort: 'high' },
      'reasoning_effort: is "high" but reasoning.effort is "low": send one of the two, or the same in both',
    ],
    [{ tools: [{}] }, 'tools[0].type: is required and must be "function" or another string'],
    [
      { tools: [{ type: 'function', function: {} }] },
      'tools[0].function.name: is required and must be a string that is not empty',
    ],
    [{ tool_choice: 'any' }, 'tool_choice: must be one of "auto", "none", "required", not "any"'],
    [
      { tool_choice: { type: 'function' } },
      'tool_choice.function: is required when tool_choice.type is "function": name the tool',
    ],
    [{ tool_choice: 'required' }, 'tool_choice: is "required", and there are no tools'],
    [
      { tool_choice: { type: 'function', function: { name: 'g' } } },
      'tool_choice.function.name: names "g", which is not among tools',
    ],
    [{ response_format: 'json' }, 'response_format: must be an object, not "json"'],
    [
      { response_format: { type: 'json_schema' } },
      'response_format.json_schema: is required when response_format.type is "json_schema"',
    ],
    [{ metadata: { a: 5 } }, 'metadata.a: must be a string of at most 512 characters, not 5'],
    [
      { metadata: { a: 'x'.repeat(513) } },
      'metadata.a: must be a string of at most 512 characters, not of 513',
    ],
    [{ metadata: { ['k'.repeat(65)]: '' } }, 'metadata: keys must have at most 64 characters; one has 65'],
    [{ metadata: { 'a[0]': '' } }, 'metadata: keys must not have square brackets; "a[0]" has'],
    [{ metadata: { 'a\nb': 5 } }, 'metadata.a\nb: values must be strings'],
    [{ metadata: pairs(17) }, 'metadata: must have at most 16 pairs, not 17'],
    [{ session_id: 's'.repeat(257) }, 'session_id: must be a string of at most 256 characters, not of 257'],
    [{ user: 'u'.repeat(257) }, 'user: must be a string of at most 256 characters, not of 257'],
    [{ stop_server_tools_when: [] }, 'stop_server_tools_when: must have 1 to 20000 entries, not 0'],
    [
      { stop_server_tools_when: [{ type: 'max_cost' }] },
      'stop_server_tools_when[0].max_cost_in_dollars: is required and must be a number of at least 0',
    ],
    [{ stream_options: { include_usage: 1 } }, 'stream_options.include_usage: must be true or false, not 1'],
    [{ debug: { echo_upstream_body: 'x' } }, 'debug.echo_upstream_body: must be true or false, not "x"'],
    [{ trace: { trace_id: 5 } }, 'trace.trace_id: must be a string, not 5'],
    [{ cache_control: 'ephemeral' }, 'cache_control: must be an object, not "ephemeral"'],
  ]
  test.each(rows)('%j', (fields, sentence) =>
    expect(refusalOf({ messages: HELLO, ...fields })).toBe(sentence),
  )
})

describe('plugins and provider preferences are rejected with the allowed values', () => {
  const SORTS = '"price", "throughput", "latency", "exacto"'
  const rows: [JsonObject, string][] = [
    [{ plugins: [{ id: 'magic' }] }, `plugins[0].id: must be one of ${PLUGINS}, not "magic"`],
    [{ plugins: [{}] }, `plugins[0].id: is required and must be one of ${PLUGINS}`],
    [
      { plugins: [{ id: 'web', max_results: 26, enabled: false }] },
      'plugins[0].max_results: must be a whole number from 1 to 25, not 26',
    ],
    [
      { plugins: [{ id: 'web', engine: 'perplexity', max_results: 21 }] },
      'plugins[0].max_results: must be a whole number from 1 to 20 with the engine "perplexity", not 21',
    ],
    [
      { plugins: [{ id: 'web', engine: 'bing' }] },
      'plugins[0].engine: must be one of "native", "auto", "exa", "parallel", "perplexity", "tavily", "brave", "firecrawl", "searxng", not "bing"',
    ],
    [
      { plugins: [{ id: 'web', x_search: { from_date: '2026-02-30' } }] },
      'plugins[0].x_search.from_date: must be a date that exists, such as 2026-01-31',
    ],
    [
      { response_format: { type: 'xml' } },
      'response_format.type: must be one of "text", "json_object", "json_schema", "grammar", "python", not "xml"',
    ],
    [{ cache_control: { type: 'forever' } }, 'cache_control.type: must be "ephemeral", not "forever"'],
    [
      message([{ type: 'text', text: 'x', cache_control: { type: 'forever' } }]),
      'messages[0].content[0].cache_control.type: must be "ephemeral", not "forever"',
    ],
    [
      { tools: [{ type: 'function', function: { name: 'f' }, cache_control: { type: 'forever' } }] },
      'tools[0].cache_control.type: must be "ephemeral", not "forever"',
    ],
    [
      { plugins: [{ id: 'web', x_search: { allowed_x_handles: ['a'], excluded_x_handles: ['b'] } }] },
      'plugins[0].x_search: allowed_x_handles and excluded_x_handles exclude each other: send one of them',
    ],
    [
      { plugins: [{ id: 'fusion', max_tool_calls: 17 }] },
      'plugins[0].max_tool_calls: must be a whole number from 1 to 16, not 17',
    ],
    [
      { plugins: [{ id: 'pareto-router', min_coding_score: 2, enabled: false }] },
      'plugins[0].min_coding_score: must be a number from 0 to 1, not 2',
    ],
    [{ provider: { order: 'openai' } }, 'provider.order: must be a list, not "openai"'],
    [{ provider: { sort: 'best' } }, `provider.sort: must be one of ${SORTS}, not "best"`],
    [{ provider: { sort: { by: 'best' } } }, `provider.sort.by: must be one of ${SORTS}, not "best"`],
    [
      { provider: { data_collection: 'maybe' } },
      'provider.data_collection: must be one of "allow", "deny", not "maybe"',
    ],
    [
      { provider: { max_price: { prompt: '1e-3' } } },
      'provider.max_price.prompt: must be USD as a number, or as a plain decimal string such as "0.5"',
    ],
    [
      { provider: { max_price: { image: -1 } } },
      'provider.max_price.image: must be a number of at least 0, not -1',
    ],
    [{ provider: { hedge_ms: -1 } }, 'provider.hedge_ms: must be a whole number from 0 to 600000, not -1'],
    [{ provider: { allow_fallbacks: 'no' } }, 'provider.allow_fallbacks: must be true or false, not "no"'],
  ]
  test.each(rows)('%j', (fields, sentence) =>
    expect(refusalOf({ messages: HELLO, ...fields })).toBe(sentence),
  )
})

test('a header x-session-id of over 256 characters is rejected', () => {
  const headers = new Headers({ 'x-session-id': 's'.repeat(257) })
  expect(refusalOf({ messages: HELLO }, headers)).toBe(
    'The header x-session-id must have at most 256 characters, not 257',
  )
})

test('long values are never repeated', () => {
  const secret = 'sk-secret-'.repeat(20)
  const bodies: JsonObject[] = [
    { messages: secret },
    { messages: [{ role: secret, content: '' }] },
    { messages: HELLO, service_tier: secret },
    { messages: HELLO, plugins: [{ id: secret }] },
    { messages: HELLO, temperature: secret },
    { messages: HELLO, tools: secret },
    { messages: HELLO, metadata: { [secret]: secret } },
    { messages: HELLO, provider: { max_price: { prompt: secret } } },
  ]
  for (const body of bodies) {
    const sentence = refusalOf(body)
    expect(sentence).not.toContain('sk-secret-'.repeat(7))
    expect(sentence.length).toBeLessThan(300)
  }
})

function pairs(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']))
}
