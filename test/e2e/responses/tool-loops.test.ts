import { describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { checkStream } from '../../dialects/responses/stream-order.ts'
import { DIALECTS, startForResponses } from './setup.ts'
import { TOOLS, TURNS } from './turns.ts'

/** Two turns that think and call a tool, by OpenAI’s own client, in front of each dialect. */

const { upstream, gateway, client } = await startForResponses()

const asked = (dialect: string) => ({
  model: `${dialect}-lamps`,
  instructions: 'Be brief.',
  input: [{ role: 'user' as const, content: 'Light!' }],
  tools: TOOLS,
  reasoning: { effort: 'high' as const },
})

/** The next turn: the client sends back everything that it got, and the output of the call. */
async function answerCall(dialect: (typeof DIALECTS)[number], output: OpenAI.Responses.ResponseOutputItem[]) {
  upstream.answers = [TURNS[dialect].stream]
  const input: OpenAI.Responses.ResponseInput = [
    ...asked(dialect).input,
    ...output.filter(
      (item) => item.type === 'reasoning' || item.type === 'message' || item.type === 'function_call',
    ),
    { type: 'function_call_output', call_id: 'call_a', output: 'done' },
  ]
  if (dialect === 'gemini') {
    const call = output.find((item) => item.type === 'function_call')
    input.splice(-1, 1, { type: 'function_call_output', call_id: call?.call_id ?? '', output: 'done' })
  }
  await client.responses.stream({ ...asked(dialect), input }).finalResponse()
  TURNS[dialect].replayed(upstream.seen.at(-1)?.body ?? {})
}

describe.each(DIALECTS)('a turn that thinks and calls, at a provider of %s,', (dialect) => {
  test('continues after a stream', async () => {
    upstream.answers = [TURNS[dialect].stream]
    const response = await client.responses.stream(asked(dialect)).finalResponse()
    expect(response).toMatchObject({
      status: 'completed',
      model: `${dialect}-lamps`,
      output_text: 'I switch.',
    })
    expect(response.usage).toMatchObject({
      input_tokens: 10,
      output_tokens: 5,
      total_tokens: 15,
      cost: 0.00002,
    })
    expect(response.output.map(({ type }) => type).filter((type) => type !== 'reasoning')).toEqual([
      'message',
      'function_call',
    ])
    const shown = response.output.flatMap((item) =>
      item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : [],
    )
    expect(shown.map(({ text }) => text).join('')).toBe('Two lamps.')
    await answerCall(dialect, response.output)
  })

  test('continues after a complete reply', async () => {
    upstream.answers = [TURNS[dialect].stream]
    const response = await client.responses.create(asked(dialect))
    expect(response).toMatchObject({ status: 'completed', output_text: 'I switch.' })
    await answerCall(dialect, response.output)
  })

  test('continues by the id of the stored response', async () => {
    upstream.answers = [TURNS[dialect].stream]
    const first = await client.responses.stream({ ...asked(dialect), store: true }).finalResponse()
    const call = first.output.find((item) => item.type === 'function_call')
    upstream.answers = [TURNS[dialect].stream]
    const second = await client.responses.create({
      ...asked(dialect),
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id: call?.call_id ?? '', output: 'done' }],
    })
    expect(second).toMatchObject({ previous_response_id: first.id, status: 'completed' })
    TURNS[dialect].replayed(upstream.seen.at(-1)?.body ?? {})
  })

  test('streams its reasoning under both names of the events', async () => {
    upstream.answers = [TURNS[dialect].stream]
    const reply = await gateway.call(
      '/responses',
      { ...asked(dialect), stream: true },
      { 'x-service-metadata': 'enabled' },
    )
    expect(reply.headers.get('content-type')).toBe('text/event-stream')
    const { events: streamed, response, ending } = checkStream(await reply.text())
    expect(ending).toBe('completed')
    expect(response).toMatchObject({
      id: String(reply.headers.get('x-generation-id')).replace('gen-', 'resp_'),
      service_metadata: { requested: `${dialect}-lamps` },
    })
    const deltas = (type: RegExp) =>
      streamed.filter((event) => type.test(String(event['type']))).map(({ delta }) => delta)
    expect(deltas(/^response\.reasoning\.delta$/).join('')).toBe('Two lamps.')
    expect(deltas(/^response\.reasoning(_summary)?_text\.delta$/).join('')).toBe('Two lamps.')
    const generation = await gateway.call(`/generation?id=${response['id']}`)
    expect(await generation.json()).toMatchObject({
      data: { api_type: 'responses', streamed: true, finish_reason: 'tool_calls' },
    })
  })
})

test('thoughts of one provider are not sent to a provider of another dialect', async () => {
  upstream.answers = [TURNS.messages.stream]
  const { output } = await client.responses.create(asked('messages'))
  for (const dialect of ['responses', 'gemini', 'chat'] as const) {
    upstream.answers = [TURNS[dialect].stream]
    const input = [
      ...asked(dialect).input,
      ...output,
      { type: 'function_call_output', call_id: 'call_a', output: 'done' },
    ]
    const reply = await gateway.call(
      '/responses',
      { ...asked(dialect), input },
      { 'x-service-metadata': 'enabled' },
    )
    expect(reply.status).toBe(200)
    expect(JSON.stringify(upstream.seen.at(-1)?.body)).not.toContain('sluice.v1.')
    expect(JSON.stringify(upstream.seen.at(-1)?.body)).not.toContain('c2lnbmVk')
    expect(JSON.stringify((await reply.json()).service_metadata.params)).toContain('reasoning')
  }
})
