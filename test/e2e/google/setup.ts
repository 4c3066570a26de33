import { GoogleGenAI } from '@google/genai'
import { gatewayOfFile, providersAt, queuedUpstream, readJson } from '../../file-setup.ts'
import { API_KEY, type GatewayOptions } from '../../gateway.ts'
import { chunk, DONE, usageChunk } from '../../upstream.ts'
import { events } from '../replies.ts'

const pricing = { prompt: '0.000001', completion: '0.000002', input_cache_read: '0.0000001' }

/** Starts a gateway with one scripted provider of each dialect, for Google's API in front of them. */
export async function startForGoogle(options: GatewayOptions = {}) {
  const upstream = queuedUpstream(readJson)
  const provider = providersAt(upstream.origin)
  const gateway = await gatewayOfFile(
    {
      listens: true,
      providers: [
        provider('plain', 'chat', '/plain/v1', [
          { id: 'maker/plain-1', upstream_id: 'plain-1', pricing },
          {
            id: 'embedder',
            pricing,
            architecture: { input_modalities: ['text'], output_modalities: ['embeddings'] },
          },
        ]),
        provider('claude', 'messages', '/claude/v1', [
          { id: 'lamps', upstream_id: 'claude-sonnet-4-5', max_completion_tokens: 9000, pricing },
        ]),
        provider('goo', 'gemini', '/goo/v1beta', [{ id: 'tides', upstream_id: 'gemini-3-tides', pricing }]),
        provider('open', 'responses', '/open/v1', [{ id: 'tide-1', pricing }]),
      ],
      ...options,
    },
    upstream,
  )
  gateway.deps.run.wait = async () => undefined
  return {
    gateway,
    upstream,
    clientOf: ({ apiVersion, apiKey = API_KEY }: { apiVersion?: string; apiKey?: string } = {}) =>
      new GoogleGenAI({
        apiKey,
        httpOptions: { baseUrl: gateway.url, ...(apiVersion ? { apiVersion } : {}) },
      }),
    /** A call below `/v1beta`, with Google's header. */
    ask: (path: string, body?: unknown, headers?: Record<string, string>): Promise<Response> =>
      fetch(`${gateway.url}/v1beta${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'x-goog-api-key': API_KEY, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  }
}

export const json =
  (body: unknown, status = 200) =>
  (): Response =>
    Response.json(body, { status })

export const chatReply = (message: object, finish = 'stop') => ({
  id: 'chatcmpl-up',
  object: 'chat.completion',
  created: 1,
  model: 'plain-1',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
})

export const chatStream = (...words: string[]) =>
  events(...words.map((content) => chunk({ content })), chunk({}, 'stop'), usageChunk(), DONE)

export const claudeReply = (content: unknown[], stop = 'end_turn') => ({
  id: 'msg_up',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content,
  stop_reason: stop,
  stop_sequence: null,
  usage: { input_tokens: 20, output_tokens: 7 },
})

/** A message of Anthropic's as the events of its stream. */
export function claudeStream(content: Record<string, unknown>[], stop = 'end_turn') {
  const list: Record<string, unknown>[] = [
    { type: 'message_start', message: { ...claudeReply([], ''), stop_reason: null } },
  ]
  for (const [index, block] of content.entries()) {
    const { type, text, thinking, signature, input } = block
    const empty =
      type === 'text'
        ? { ...block, text: '' }
        : type === 'thinking'
          ? { ...block, thinking: '', signature: '' }
          : { ...block, input: {} }
    list.push({ type: 'content_block_start', index, content_block: empty })
    const deltas: object[] =
      type === 'text'
        ? [{ type: 'text_delta', text }]
        : type === 'thinking'
          ? [
              { type: 'thinking_delta', thinking },
              { type: 'signature_delta', signature },
            ]
          : [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }]
    for (const delta of deltas) list.push({ type: 'content_block_delta', index, delta })
    list.push({ type: 'content_block_stop', index })
  }
  list.push(
    { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  )
  return events(...list.map((each) => `event: ${each['type']}\ndata: ${JSON.stringify(each)}\n\n`))
}
