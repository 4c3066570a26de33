import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Expected, forReplies, type Recording } from '../recordings.ts'
import { type ReplayingGateway, startReplaying } from '../replaying-gateway.ts'

/** Every recorded reply of the Responses API through the whole gateway, as the official client reads chat and Responses. */

let replaying: ReplayingGateway
let replayed: Recording | null = null
beforeAll(async () => {
  replaying = await startReplaying({ dialect: 'responses' })
})
afterAll(() => replaying.stop())

/** Complete answers; the others are in test/dialects/responses/read-recordings.test.ts. */
const isWhole = ({ api, status, expected, name }: Recording): boolean =>
  api === 'openai-responses' &&
  status < 300 &&
  !expected.error &&
  !/background_mode_vcr.http.json#[01]$|parallel-tool-call-wrapper.1.chunks/.test(name)
forReplies(['responses'], isWhole, table)

interface Read {
  text: string
  calls: [name: string, input: string][]
  promptTokens: number | undefined
  outputTokens: number | undefined
}

function table(recordings: Recording[]): void {
  test.each(recordings.map((each) => [each.name, each] as const))('%s', async (_, recording) => {
    replayed = recording
    replaying.replay(recording)
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
  calls: tool_calls.map(({ name, arguments: reported }) => [
    String(name),
    (typeof reported === 'string' ? reported : JSON.stringify(reported)) || '{}',
  ]),
  promptTokens: numberAt(usage, 'input_tokens'),
  outputTokens: numberAt(usage, 'output_tokens'),
})

/** Without a word of the provider's, ours is an estimate. */
const reported = (usage: number | undefined): number | undefined =>
  replayed?.expected.usage ? usage : undefined

const ASKED = { model: 'recorded', messages: [{ role: 'user' as const, content: 'Hello' }] }

async function readChat(): Promise<Read> {
  const { choices, usage } = await replaying.client.chat.completions.create(ASKED)
  return {
    text: choices[0]?.message.content ?? '',
    calls: (choices[0]?.message.tool_calls ?? []).map((call) =>
      call.type === 'function'
        ? [call.function.name, call.function.arguments]
        : [call.custom.name, call.custom.input],
    ),
    promptTokens: reported(usage?.prompt_tokens),
    outputTokens: reported(usage?.completion_tokens),
  }
}

async function readChatStream(): Promise<Read> {
  const found: Read = { text: '', calls: [], promptTokens: undefined, outputTokens: undefined }
  for await (const { choices, usage } of await replaying.client.chat.completions.create({
    ...ASKED,
    stream: true,
  })) {
    found.text += choices[0]?.delta.content ?? ''
    for (const call of choices[0]?.delta.tool_calls ?? []) {
      const custom: unknown = Reflect.get(call, 'custom')
      const called = call.function ?? { name: textAt(custom, 'name'), arguments: textAt(custom, 'input') }
      const [name, input] = found.calls[call.index] ?? ['', '']
      found.calls[call.index] = [name + (called.name ?? ''), input + (called.arguments ?? '')]
    }
    found.promptTokens = reported(usage?.prompt_tokens) ?? found.promptTokens
    found.outputTokens = reported(usage?.completion_tokens) ?? found.outputTokens
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
    ? await replaying.client.responses.stream(asked).finalResponse()
    : await replaying.client.responses.create(asked)
  return {
    text: response.output_text,
    calls: response.output.flatMap((item): Read['calls'] => {
      if (item.type === 'function_call') return [[item.name, item.arguments || '{}']]
      return item.type === 'custom_tool_call' ? [[item.name, item.input]] : []
    }),
    promptTokens: reported(response.usage?.input_tokens),
    outputTokens: reported(response.usage?.output_tokens),
  }
}
