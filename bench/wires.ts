import { CHUNKS, streamEvents as chatEvents, faultOf as chatFaultOf, USAGE, WORD } from './answers.ts'

/** The same stream of 50 words in each wire format that callers and providers may speak. */
export interface Wire {
  /** Appended to a base URL. */
  path: string
  events(model: string): string[]
  request(model: string): string
  /** Null for a complete and correct answer, else the problem. */
  faultOf(status: number, body: string): string | null
}

export const WIRE_NAMES = ['chat', 'responses', 'messages'] as const
export type WireName = (typeof WIRE_NAMES)[number]

const SYSTEM = 'You answer in the words that were agreed upon. '.repeat(8).trim()
const QUESTION = 'Say the word that a benchmark is made of, fifty times. '.repeat(8).trim()
const TEXT = WORD.repeat(CHUNKS)
const words = Array.from({ length: CHUNKS }, () => WORD)

const named = (event: { type: string } & Record<string, unknown>): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

const chat: Wire = {
  path: '/chat/completions',
  events: chatEvents,
  request: (model) =>
    JSON.stringify({
      model,
      messages: [
        { role: 'system', content: SYSTEM },
        { role: 'user', content: QUESTION },
      ],
      temperature: 0.2,
      max_tokens: 256,
      stream: true,
      stream_options: { include_usage: true },
    }),
  faultOf: (status, body) => chatFaultOf('stream', status, body),
}

const responses: Wire = {
  path: '/responses',
  events(model) {
    const usage = {
      input_tokens: USAGE.prompt_tokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: USAGE.completion_tokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: USAGE.total_tokens,
    }
    const response = (status: string, output: object[], more: object = {}) => ({
      id: 'resp_bench0123456789',
      object: 'response',
      created_at: 1_763_690_000,
      status,
      model,
      output,
      error: null,
      incomplete_details: null,
      instructions: SYSTEM,
      parallel_tool_calls: true,
      tools: [],
      tool_choice: 'auto',
      temperature: 0.2,
      top_p: 1,
      metadata: {},
      ...more,
    })
    const part = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })
    const item = (status: string, content: object[]) => ({
      id: 'msg_bench0123456789',
      type: 'message',
      role: 'assistant',
      status,
      content,
    })
    const at = { item_id: 'msg_bench0123456789', output_index: 0, content_index: 0 }
    const complete = item('completed', [part(TEXT)])
    return [
      { type: 'response.created', response: response('in_progress', []) },
      { type: 'response.in_progress', response: response('in_progress', []) },
      { type: 'response.output_item.added', output_index: 0, item: item('in_progress', []) },
      { type: 'response.content_part.added', ...at, part: part('') },
      ...words.map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
      { type: 'response.output_text.done', ...at, text: TEXT, logprobs: [] },
      { type: 'response.content_part.done', ...at, part: part(TEXT) },
      { type: 'response.output_item.done', output_index: 0, item: complete },
      { type: 'response.completed', response: response('completed', [complete], { usage }) },
    ].map((event, index) => named({ ...event, sequence_number: index }))
  },
  request: (model) =>
    JSON.stringify({
      model,
      instructions: SYSTEM,
      input: [{ role: 'user', content: [{ type: 'input_text', text: QUESTION }] }],
      temperature: 0.2,
      max_output_tokens: 256,
      stream: true,
    }),
  faultOf: (status, body) =>
    streamFault(status, body, {
      finish: '"type":"response.completed"',
      count: `"output_tokens":${CHUNKS}`,
      delta: `"delta":"${WORD}"`,
      end: 'data: [DONE]\n\n',
    }),
}

const messages: Wire = {
  path: '/messages',
  events: (model) =>
    [
      {
        type: 'message_start',
        message: {
          id: 'msg_bench0123456789',
          type: 'message',
          role: 'assistant',
          model,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: USAGE.prompt_tokens, output_tokens: 1 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'ping' },
      ...words.map((text) => ({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text },
      })),
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: USAGE.completion_tokens },
      },
      { type: 'message_stop' },
    ].map(named),
  request: (model) =>
    JSON.stringify({
      model,
      system: SYSTEM,
      messages: [{ role: 'user', content: QUESTION }],
      temperature: 0.2,
      max_tokens: 256,
      stream: true,
    }),
  faultOf: (status, body) =>
    streamFault(status, body, {
      finish: '"stop_reason":"end_turn"',
      count: `"output_tokens":${CHUNKS}`,
      delta: `"text":"${WORD}"`,
      end: '\n\n',
    }),
}

interface Marks {
  finish: string
  count: string
  delta: string
  end: string
}

function streamFault(status: number, body: string, { finish, count, delta, end }: Marks): string | null {
  if (status !== 200) return `status ${status}: ${body.slice(0, 300)}`
  if (!body.includes(finish)) return `no finish: ${body.slice(-300)}`
  if (!body.includes(count)) return `no usage: ${body.slice(-300)}`
  if (!body.endsWith(end)) return `no end: ${body.slice(-300)}`
  const found = body.split(delta).length - 1
  return found === CHUNKS ? null : `${found} pieces of text in place of ${CHUNKS}`
}

export const wires: Readonly<Record<WireName, Wire>> = { chat, responses, messages }

/** Which wire a path of the API or of a provider is. */
export const wireOfPath = (path: string): Wire =>
  path.endsWith('/responses') ? responses : path.endsWith('/messages') ? messages : chat
