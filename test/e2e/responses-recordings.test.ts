import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import OpenAI from 'openai'
import { API_KEY, type Gateway, startGateway } from '../gateway.ts'
import {
  type Expected,
  FIXTURES,
  hasTranscripts,
  loadRecordings,
  type Recording,
  TRANSCRIPTS,
} from '../recordings.ts'

/** Every recorded reply of the Responses API through the whole gateway, as the official client reads chat and Responses. */

let gateway: Gateway
let client: OpenAI
let replayed: Recording | null = null
const replay = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch() {
    if (!replayed) return new Response('nothing is replayed', { status: 500 })
    const type = replayed.headers.get('content-type') ?? 'application/json'
    return new Response(replayed.bytes, { status: replayed.status, headers: { 'content-type': type } })
  },
})

beforeAll(async () => {
  let now = Date.UTC(2026, 0, 1)
  gateway = await startGateway({
    listens: true,
    // An hour between two requests: no failure of one recording holds back the next.
    now: () => {
      now += 3_600_000
      return now
    },
    providers: [
      {
        slug: 'lab',
        dialect: 'responses',
        base_url: `http://127.0.0.1:${replay.port}/v1`,
        models: [{ id: 'recorded', pricing: { prompt: '0.000001', completion: '0.000002' } }],
      },
    ],
  })
  gateway.deps.run.wait = async () => undefined
  client = new OpenAI({ baseURL: `${gateway.url}/api/v1`, apiKey: API_KEY, maxRetries: 0 })
})
afterAll(async () => {
  await gateway.stop()
  await replay.stop(true)
})

/** Whole answers; what is none is in test/dialects/responses/read-recordings.test.ts. */
const isWhole = ({ api, status, expected, name }: Recording): boolean =>
  api === 'openai-responses' &&
  status < 300 &&
  !expected.error &&
  !/background_mode_vcr.http.json#[01]$|parallel-tool-call-wrapper.1.chunks/.test(name)
const whole = (folder: string): Recording[] => loadRecordings(folder).filter(isWhole)

describe('hand-made replies', () => table(whole(join(FIXTURES, 'responses'))))
describe.skipIf(!hasTranscripts)('recorded replies', () => table(whole(TRANSCRIPTS)))

interface Read {
  text: string
  calls: [name: string, input: string][]
  promptTokens: number | undefined
  outputTokens: number | undefined
}

function table(recordings: Recording[]): void {
  if (recordings.length === 0) return
  test.each(recordings.map((each) => [each.name, each] as const))('%s', async (_, recording) => {
    replayed = recording
    const { expected, isStream } = recording
    const wanted = wantedOf(expected)
    expect(await (isStream ? readChatStream() : readChat())).toEqual(wanted)
    expect(await readResponse(isStream)).toEqual(wanted)
  })
}

const numberAt = (usage: Expected['usage'], key: string): number | undefined => {
  const value = usage?.[key]
  return typeof value === 'number' ? value : undefined
}

const wantedOf = ({ text = '', tool_calls = [], usage }: Expected): Read => ({
  text,
  calls: tool_calls.map(({ name, arguments: told }) => [
    String(name),
    (typeof told === 'string' ? told : JSON.stringify(told)) || '{}',
  ]),
  promptTokens: numberAt(usage, 'input_tokens'),
  outputTokens: numberAt(usage, 'output_tokens'),
})

/** Without a word of the provider's, ours is an estimate. */
const told = (usage: number | undefined): number | undefined => (replayed?.expected.usage ? usage : undefined)

const ASKED = { model: 'recorded', messages: [{ role: 'user' as const, content: 'Hello' }] }

async function readChat(): Promise<Read> {
  const { choices, usage } = await client.chat.completions.create(ASKED)
  return {
    text: choices[0]?.message.content ?? '',
    calls: (choices[0]?.message.tool_calls ?? []).map((call) =>
      call.type === 'function'
        ? [call.function.name, call.function.arguments]
        : [call.custom.name, call.custom.input],
    ),
    promptTokens: told(usage?.prompt_tokens),
    outputTokens: told(usage?.completion_tokens),
  }
}

async function readChatStream(): Promise<Read> {
  const found: Read = { text: '', calls: [], promptTokens: undefined, outputTokens: undefined }
  for await (const { choices, usage } of await client.chat.completions.create({ ...ASKED, stream: true })) {
    found.text += choices[0]?.delta.content ?? ''
    for (const call of choices[0]?.delta.tool_calls ?? []) {
      const custom: unknown = Reflect.get(call, 'custom')
      const called = call.function ?? { name: textAt(custom, 'name'), arguments: textAt(custom, 'input') }
      const [name, input] = found.calls[call.index] ?? ['', '']
      found.calls[call.index] = [name + (called.name ?? ''), input + (called.arguments ?? '')]
    }
    found.promptTokens = told(usage?.prompt_tokens) ?? found.promptTokens
    found.outputTokens = told(usage?.completion_tokens) ?? found.outputTokens
  }
  return found
}

const textAt = (value: unknown, key: string): string => {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
  return typeof found === 'string' ? found : ''
}

async function readResponse(isStream: boolean): Promise<Read> {
  const asked = { model: 'recorded', input: 'Hello' }
  // The client puts the events together by itself, and refuses those that do not fit.
  const response = isStream
    ? await client.responses.stream(asked).finalResponse()
    : await client.responses.create(asked)
  return {
    text: response.output_text,
    calls: response.output.flatMap((item): Read['calls'] => {
      if (item.type === 'function_call') return [[item.name, item.arguments || '{}']]
      return item.type === 'custom_tool_call' ? [[item.name, item.input]] : []
    }),
    promptTokens: told(response.usage?.input_tokens),
    outputTokens: told(response.usage?.output_tokens),
  }
}
