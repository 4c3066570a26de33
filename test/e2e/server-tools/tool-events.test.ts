/** X-Service-Tool-Events: the calls of server tools in chat completions, for callers that ask for them. */
import { describe, expect, test } from 'bun:test'
import { objectsIn } from '../../../src/core/json.ts'
import { ask, calls, messageOf, says, startTools } from './setup.ts'

const { upstream, gateway } = await startTools()

const sums = [
  { name: 'calculator', args: { expression: '6 * 7' }, id: 'call_a' },
  { name: 'calculator', args: { expression: '1/0' }, id: 'call_b' },
]
const script = () => upstream.inTurn('tiny', [calls(sums, 'Let me see.'), says('It is 42.')])

const call = (tool_call_id: string, expression: string) => ({
  type: 'server_tool_call',
  tool_call_id,
  tool_name: 'calculator',
  arguments: JSON.stringify({ expression }),
})
const EVENTS = [
  { ...call('call_a', '6 * 7'), status: 'in_progress' },
  { ...call('call_a', '6 * 7'), status: 'completed', result: '42' },
  { ...call('call_b', '1/0'), status: 'in_progress' },
  { ...call('call_b', '1/0'), status: 'failed', result: 'division by zero' },
]

const send = (body: Record<string, unknown>, value?: string) =>
  gateway.call('/chat/completions', ask(body), value === undefined ? {} : { 'X-Service-Tool-Events': value })

async function chunksOf(response: Response) {
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'))
  return lines.map((line): Record<string, unknown> => JSON.parse(line.slice('data: '.length)))
}

describe('with the header', () => {
  test('a stream has a chunk without choices when a call begins, and when it ends', async () => {
    script()
    const chunks = await chunksOf(await send({ stream: true }, 'enabled'))
    const withEvents = chunks.filter(({ tool_events }) => tool_events !== undefined)
    expect(withEvents.flatMap(({ tool_events }) => objectsIn(tool_events))).toEqual(EVENTS)
    expect(withEvents.every(({ choices }) => objectsIn(choices).length === 0)).toBe(true)
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
    const places = chunks.map(({ tool_events, choices }) =>
      tool_events ? 'event' : JSON.stringify(choices).includes('It is 42.') ? 'answer' : 'other',
    )
    expect(places.lastIndexOf('event')).toBeLessThan(places.indexOf('answer'))
  })

  test('a complete reply has them in their order', async () => {
    script()
    const reply = await (await send({}, 'Enabled')).json()
    expect(reply.tool_events).toEqual(EVENTS)
    expect(reply.choices[0].message.content).toBe('Let me see.\n\nIt is 42.')
  })

  test('a reply without server tools has none', async () => {
    upstream.inTurn('tiny', [says('Hello')])
    expect(await (await send({ tools: [] }, 'enabled')).json()).not.toHaveProperty('tool_events')
  })

  test('an unknown value is refused, by the name of the header', async () => {
    const response = await send({}, 'yes')
    expect(response.status).toBe(400)
    expect(await messageOf(response)).toBe('header x-service-tool-events: must be enabled or disabled')
  })
})

describe.each([undefined, 'disabled'])('with the header %s', (value) => {
  test('a stream and a complete reply have the field nowhere', async () => {
    for (const stream of [true, false]) {
      script()
      const raw = await (await send({ stream }, value)).text()
      expect(raw).toContain('It is 42.')
      expect(raw).not.toContain('tool_events')
    }
  })
})
