import { afterAll, beforeAll, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { APIError } from 'openai'
import { type Expected, forReplies, type Recording } from '../recordings.ts'
import { type ReplayingGateway, startReplaying } from '../replaying-gateway.ts'

/** Every recording of Converse through the whole gateway, read by the official client of chat. */

let replaying: ReplayingGateway
beforeAll(async () => {
  replaying = await startReplaying({ dialect: 'converse' })
})
afterAll(() => replaying.stop())

forReplies(['converse'], ({ api, status }) => api === 'bedrock-converse' && status < 300, table)

function table(recordings: Recording[]): void {
  test.each(recordings.map((each) => [each.name, each] as const))('%s', async (_, recording) => {
    replaying.replay(recording)
    const { expected, isStream } = recording
    const reading = isStream ? readStream() : readReply()
    if (expected.error) {
      await expect(reading).rejects.toBeInstanceOf(APIError)
      return
    }
    expectRead(await reading, expected)
  })
}

const ASKED = { model: 'recorded', messages: [{ role: 'user' as const, content: 'Hello' }] }

interface Read {
  text: string
  reasoning: string
  calls: { id: string; name: string; arguments: string }[]
  finish: string | null
  usage: OpenAI.CompletionUsage | null
}

async function readReply(): Promise<Read> {
  const { choices, usage } = await replaying.client.chat.completions.create(ASKED)
  const [choice] = choices
  const calls = choice?.message.tool_calls ?? []
  return {
    text: choice?.message.content ?? '',
    reasoning: reasoningIn(choice?.message),
    calls: calls.map((call) =>
      call.type === 'function' ? { id: call.id, ...call.function } : { ...NO_CALL },
    ),
    finish: choice?.finish_reason ?? null,
    usage: usage ?? null,
  }
}

async function readStream(): Promise<Read> {
  const read: Read = { text: '', reasoning: '', calls: [], finish: null, usage: null }
  for await (const { choices, usage } of await replaying.client.chat.completions.create({
    ...ASKED,
    stream: true,
  })) {
    const [choice] = choices
    read.text += choice?.delta.content ?? ''
    read.reasoning += reasoningIn(choice?.delta)
    for (const { index, id, function: called } of choice?.delta.tool_calls ?? []) {
      const call = read.calls[index] ?? { ...NO_CALL }
      read.calls[index] = {
        id: call.id + (id ?? ''),
        name: call.name + (called?.name ?? ''),
        arguments: call.arguments + (called?.arguments ?? ''),
      }
    }
    read.finish = choice?.finish_reason ?? read.finish
    read.usage = usage ?? read.usage
  }
  return read
}

const NO_CALL = { id: '', name: '', arguments: '' }

const reasoningIn = (value: object | undefined): string => {
  const found: unknown = value && Reflect.get(value, 'reasoning')
  return typeof found === 'string' ? found : ''
}

function expectRead(read: Read, { text, reasoning, tool_calls = [], usage }: Expected): void {
  expect([read.text, read.reasoning]).toEqual([text ?? '', reasoning ?? ''])
  // What runs at AWS is not the client's to run.
  const calls = tool_calls.filter(({ name }) => !name?.startsWith('nova_'))
  expect(read.calls).toEqual(
    calls.map(({ id, name, arguments: json }) => ({
      id: String(id),
      name: String(name),
      arguments: String(json) || '{}',
    })),
  )
  expect(read.finish).toMatch(/^(stop|length|tool_calls|content_filter)$/)
  expect(read.usage?.total_tokens).toBe(Number(usage?.['totalTokens']))
  expect(read.usage?.completion_tokens).toBe(Number(usage?.['outputTokens']))
}
