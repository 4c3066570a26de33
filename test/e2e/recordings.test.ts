import { afterAll, beforeAll, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { APIError } from 'openai'
import { type Expected, forReplies, type Recording } from '../recordings.ts'
import { type ReplayingGateway, startReplaying } from '../replaying-gateway.ts'

/** Every chat recording through the whole gateway, read by the official client. */

let replaying: ReplayingGateway
beforeAll(async () => {
  replaying = await startReplaying({ dialect: 'chat' })
})
afterAll(() => replaying.stop())

const isChat = ({ api, status }: Recording): boolean => api === 'openai-chat' && status < 300
forReplies(['chat'], isChat, table)

interface Read {
  text: string
  reasoning: string
  calls: { name: string; arguments: string }[]
  finish: string | null
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number; cost?: number } | null
}

function table(recordings: Recording[]): void {
  for (const isStream of [true, false]) {
    const kind = recordings.filter((each) => each.isStream === isStream)
    if (kind.length === 0) continue
    test.each(kind.map((each) => [each.name, each] as const))('%s', async (_, recording) => {
      replaying.replay(recording)
      const { expected } = recording
      if (expected.error) {
        await expect(read(isStream)).rejects.toBeInstanceOf(APIError)
        expect(replaying.gateway.generations().at(-1)).toMatchObject({ finish_reason: 'error' })
        return
      }
      expectRead(await read(isStream), expected, recording)
      expect(replaying.gateway.generations().at(-1)).toMatchObject({
        cancelled: 0,
        streamed: isStream ? 1 : 0,
      })
    })
  }
}

const ASKED = { model: 'recorded', messages: [{ role: 'user' as const, content: 'Hello' }] }

async function read(isStream: boolean): Promise<Read> {
  if (!isStream) {
    const reply = await replaying.client.chat.completions.create(ASKED)
    const choice = reply.choices[0]
    return {
      text: choice?.message.content ?? '',
      reasoning: textAt(choice?.message, 'reasoning'),
      calls: (choice?.message.tool_calls ?? []).map(calledOf),
      finish: choice?.finish_reason ?? null,
      usage: reply.usage ?? null,
    }
  }
  const result: Read = { text: '', reasoning: '', calls: [], finish: null, usage: null }
  for await (const chunk of await replaying.client.chat.completions.create({ ...ASKED, stream: true })) {
    const choice = chunk.choices.find(({ index }) => index === 0)
    result.text += choice?.delta.content ?? ''
    result.reasoning += textAt(choice?.delta, 'reasoning')
    for (const { index, function: called } of choice?.delta.tool_calls ?? []) {
      const call = result.calls[index] ?? { name: '', arguments: '' }
      result.calls[index] = call
      call.name += called?.name ?? ''
      call.arguments += called?.arguments ?? ''
    }
    result.finish = choice?.finish_reason ?? result.finish
    result.usage = chunk.usage ?? result.usage
  }
  return result
}

const textAt = (value: unknown, key: string): string => {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
  return typeof found === 'string' ? found : ''
}

const calledOf = (call: OpenAI.ChatCompletionMessageToolCall) =>
  call.type === 'function' ? call.function : { name: call.custom.name, arguments: call.custom.input }

/** The independent reader took the empty relic in `delta` for the answer; the answer is in `message`. */
const ELSEWHERE =
  'perplexity/rllm-with_params_perplexity_sonar_supports_json_schema_response_format_param.http.json'

function expectRead(found: Read, expected: Expected, { name }: Recording): void {
  expect(found.text).toBe(name === ELSEWHERE ? '{"result":8}' : (expected.text ?? ''))
  expect(found.reasoning).toBe(expected.reasoning ?? '')
  const calls = (expected.tool_calls ?? []).filter((call) => call.name !== null)
  expect(found.calls.map((call) => [call.name, call.arguments || '{}'])).toEqual(
    calls.map(({ name: called, arguments: text }) => [
      String(called),
      (typeof text === 'string' ? text : JSON.stringify(text)) || '{}',
    ]),
  )
  expect(found.finish).toMatch(/^(stop|length|tool_calls|content_filter)$/)
  if (calls.length > 0 && expected.finish !== 'length') expect(found.finish).not.toBe('content_filter')
  const prompt = expected.usage?.['prompt_tokens']
  const total = expected.usage?.['total_tokens']
  expect(found.usage?.cost ?? -1).toBeGreaterThanOrEqual(0)
  if (typeof prompt === 'number') expect(found.usage?.prompt_tokens).toBe(prompt)
  if (typeof prompt === 'number' && typeof total === 'number') {
    expect(found.usage?.total_tokens).toBe(total)
    expect(found.usage?.completion_tokens).toBe(total - prompt)
  }
}
