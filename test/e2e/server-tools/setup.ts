/** A gateway whose only provider calls tools as a test writes it. */
import { beforeEach } from 'bun:test'
import { isObject, objectsIn } from '../../../src/core/json.ts'
import { gatewayOfFile } from '../../file-setup.ts'
import { API_KEY, type Gateway, type GatewayOptions, MANAGEMENT_KEY } from '../../gateway.ts'
import { type Answer, chunk, DONE, sse, startUpstream, USAGE, usageChunk } from '../../upstream.ts'

export interface Call {
  readonly name: string
  readonly args: unknown
  readonly id?: string
}

/** A reply that calls tools, perhaps after a text; streamed if that was asked for. Text arguments are sent as they are. */
export const calls =
  (list: readonly Call[], text = '', finish = 'tool_calls'): Answer =>
  ({ body }) => {
    const toolCalls = list.map(({ name, args, id }, index) => ({
      index,
      id: id ?? `call_${index}`,
      type: 'function',
      function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
    }))
    if (body['stream'] !== true) {
      const message = { role: 'assistant', content: text || null, tool_calls: toolCalls }
      return Response.json({
        id: 'up',
        choices: [{ index: 0, message, finish_reason: finish }],
        usage: USAGE,
      })
    }
    return sse([
      chunk({ role: 'assistant', content: text }),
      ...toolCalls.map((call) => chunk({ tool_calls: [call] })),
      chunk({}, finish),
      usageChunk(),
      DONE,
    ])
  }

/** The last reply. */
export const says =
  (text: string): Answer =>
  ({ body }) =>
    body['stream'] === true
      ? sse([chunk({ role: 'assistant', content: text }), chunk({}, 'stop'), usageChunk(), DONE])
      : Response.json({
          id: 'up',
          choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
          usage: USAGE,
        })

/** Of one step: 10 tokens in, 5 out. */
export const STEP_USD = 10 * 0.000001 + 5 * 0.000002

export async function startTools(
  environment: Record<string, string> = {},
  listens = false,
  resolve?: GatewayOptions['resolve'],
  more: Pick<GatewayOptions, 'mcpServers' | 'log'> = {},
) {
  const upstream = startUpstream()
  const gateway = await gatewayOfFile(
    {
      environment,
      listens,
      ...(resolve && { resolve }),
      ...more,
      providers: [
        {
          slug: 'lab',
          name: 'Lab',
          dialect: 'chat',
          base_url: upstream.baseUrl,
          models: [{ id: 'tiny', pricing: { prompt: '0.000001', completion: '0.000002', request: '0' } }],
        },
      ],
    },
    upstream,
  )
  beforeEach(() => {
    upstream.seen.length = 0
  })
  return {
    upstream,
    gateway,
    /** The messages of the n-th request to the provider. */
    sent: (at: number) => objectsIn(upstream.seen[at]?.body['messages']),
    /** The results of tools in the last request to the provider. */
    results: () =>
      objectsIn(upstream.seen.at(-1)?.body['messages'])
        .filter(({ role }) => role === 'tool')
        .map(({ content }) => String(content)),
  }
}

export const ask = (more: Record<string, unknown> = {}) => ({
  model: 'tiny',
  messages: [{ role: 'user', content: 'What is 6 * 7?' }],
  tools: [{ type: 'openrouter:calculator' }],
  ...more,
})

/** The message of an error in any dialect. */
export async function messageOf(response: Response): Promise<string> {
  const json: unknown = await response.json()
  const error = isObject(json) && isObject(json['error']) ? json['error'] : {}
  return String(error['message'])
}

/** The id of an uploaded file. The gateway listens. */
export async function uploadTo(
  gateway: Gateway,
  name: string,
  content: string | Uint8Array<ArrayBuffer>,
  workspace = '',
): Promise<string> {
  const form = new FormData()
  form.set('file', new File([content], name))
  const path = `/api/v1/files${workspace && `?workspace_id=${workspace}`}`
  const key = workspace ? MANAGEMENT_KEY : API_KEY
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: form,
  })
  const { id } = await response.json()
  return String(id)
}
