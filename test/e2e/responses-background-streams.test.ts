import { describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { streamed } from '../upstream.ts'
import { startForBackground } from './responses-background-setup.ts'

/** Streams of responses in the background, that callers can read again from any event. */

const { upstream, gateway, client, hold, ended, generationOf } = await startForBackground()

type Event = OpenAI.Responses.ResponseStreamEvent
async function all(stream: AsyncIterable<Event>): Promise<Event[]> {
  const events: Event[] = []
  for await (const event of stream) events.push(event)
  return events
}
const numbers = (events: readonly Event[]): number[] => events.map(({ sequence_number }) => sequence_number)
const from = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)

describe('the stream of a background response', () => {
  test('has its events as they come, and again from any of them', async () => {
    const events = await all(
      await client.responses.create({ model: 'tiny', input: 'Hi', background: true, stream: true }),
    )
    const last = events.length - 1
    expect(numbers(events)).toEqual(from(0, last))
    expect(events.at(0)?.type).toBe('response.created')
    const end = events.at(-1)
    if (end?.type !== 'response.completed') throw new Error(`it ended with ${end?.type}`)
    const { id } = end.response
    for (const after of [undefined, 0, 4, last - 1, last]) {
      const query = after === undefined ? {} : { starting_after: after }
      const again = await all(await client.responses.retrieve(id, { stream: true, ...query }))
      expect(again).toEqual(events.slice(after === undefined ? 0 : after + 1))
    }
    const helper = client.responses.stream({ response_id: id })
    expect((await helper.finalResponse()).output_text).toBe('One two three')
  })

  test('continues after a client disconnect; others read on from any event', async () => {
    const gate = hold()
    const first: Event[] = []
    const stream = await client.responses.create({
      model: 'held',
      input: 'Hi',
      background: true,
      stream: true,
    })
    for await (const event of stream) {
      first.push(event)
      if (event.type === 'response.output_text.delta') break
    }
    const created = first[0]
    if (created?.type !== 'response.created') throw new Error('it did not begin with response.created')
    const { id } = created.response
    const seen = first.at(-1)?.sequence_number ?? -1
    const followers = [
      all(await client.responses.retrieve(id, { stream: true, starting_after: seen })),
      all(await client.responses.retrieve(id, { stream: true })),
    ]
    gate.open()
    const [rest = [], whole = []] = await Promise.all(followers)
    expect([...first, ...rest]).toEqual(whole)
    expect(whole.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { output_text: 'One two three' },
    })
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'completed' })
    expect(await generationOf(id)).toMatchObject({ cancelled: false })
  })

  test('ends for all its readers when it is cancelled', async () => {
    const gate = hold()
    const stream = await client.responses.create({
      model: 'held',
      input: 'Hi',
      background: true,
      stream: true,
    })
    const following = all(stream)
    await gate.reached
    const [running] = gateway.bodies.file
      .query<{ id: string }, []>("SELECT id FROM responses WHERE status = 'in_progress'")
      .all()
    const id = String(running?.id)
    await client.responses.cancel(id)
    const events = await following
    expect(numbers(events)).toEqual(from(0, events.length - 1))
    expect(events.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { id, status: 'cancelled' },
    })
    expect(await all(await client.responses.retrieve(id, { stream: true }))).toEqual(events)
    gate.open()
  })

  test('has a failure as an event, even before the first text', async () => {
    const events = await all(
      await client.responses.create({ model: 'refusing', input: 'Hi', background: true, stream: true }),
    )
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.failed',
    ])
  })

  test('is stored in pieces if it is long, and read again complete', async () => {
    const words = Array.from({ length: 3_000 }, (_, index) => `${index},`)
    upstream.on('tiny', streamed(words))
    const events = await all(
      await client.responses.create({ model: 'tiny', input: 'Count', background: true, stream: true }),
    )
    const end = events.at(-1)
    if (end?.type !== 'response.completed') throw new Error(`it ended with ${end?.type}`)
    // The end is sent before the last events are stored.
    await gateway.deps.responses.background.find(end.response.id)?.ended
    const stretches = gateway.bodies.file
      .query<{ first: number; last: number }, [string]>(
        "SELECT first, last FROM response_parts WHERE response_id = ? AND part = 'events' ORDER BY first",
      )
      .all(end.response.id)
    expect(stretches.length).toBeGreaterThan(1)
    for (const [index, { first }] of stretches.entries())
      expect(first).toBe(index === 0 ? 0 : Number(stretches[index - 1]?.last) + 1)
    const again = await all(await client.responses.retrieve(end.response.id, { stream: true }))
    expect(again).toHaveLength(events.length)
    expect(again).toEqual(events)
  })

  test('is stored only if the request was for a stream', async () => {
    const { id } = await client.responses.create({ model: 'tiny', input: 'Hi', background: true })
    await ended(id)
    const response = await gateway.call(`/responses/${id}?stream=true`)
    expect([response.status, (await response.json()).error.message]).toEqual([
      400,
      expect.stringContaining('events of this response are not stored'),
    ])
  })
})
