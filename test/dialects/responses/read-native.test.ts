import { describe, expect, test } from 'bun:test'
import { ownPieceOf } from '../../../src/dialects/own-pieces.ts'
import { isResponsesNative } from '../../../src/dialects/responses/items.ts'
import type { Outcome } from '../chat/outcome.ts'
import { completed, fixture, streamed } from './replies.ts'

const nativesOf = ({ events }: Outcome) =>
  events.flatMap((event) => {
    if (event.type !== 'native' || ownPieceOf(event)) return []
    if (event.dialect !== 'responses' || !isResponsesNative(event.data)) throw new Error('a strange native')
    return [event.data]
  })

const typesOf = (outcome: Outcome) =>
  nativesOf(outcome).map(({ event, response }) => event?.type ?? `response ${response?.status}`)

const itemsOf = ({ events }: Outcome) => events.flatMap((event) => ownPieceOf(event) ?? [])

describe('native events for a writer of the same dialect', () => {
  test('every complete item of a stream, its own events, and the response', async () => {
    const outcome = await fixture('web-search.sse')
    expect(typesOf(outcome)).toEqual([
      'response in_progress',
      'response.output_item.added',
      'response.output_item.done',
      'response.output_item.added',
      'response.web_search_call.in_progress',
      'response.web_search_call.searching',
      'response.web_search_call.completed',
      'response.output_item.done',
      'response.output_item.added',
      'response.output_item.done',
      'response completed',
    ])
    expect(nativesOf(outcome)[7]?.event).toMatchObject({
      output_index: 1,
      item: { type: 'web_search_call', id: 'ws_1', action: { query: 'tide tables' } },
    })
    expect(itemsOf(outcome)).toMatchObject([{ type: 'web_search_call', id: 'ws_1' }])
    expect(nativesOf(outcome)[8]?.event).toMatchObject({ item: { phase: 'final_answer' } })
    expect(nativesOf(outcome).at(-1)?.response).toMatchObject({
      tool_usage: { web_search: { num_requests: 1 } },
    })
    expect(nativesOf(outcome).at(-1)?.response).not.toHaveProperty('output')
  })

  test('items enclose the events of their content', async () => {
    const { events } = await fixture('thinking-tools.sse')
    const order = events.flatMap((event): unknown[] => {
      if (event.type === 'tool-call-start') return [event.name]
      if (event.type !== 'native' || !isResponsesNative(event.data)) return []
      return event.data.event ? [event.data.event.type] : []
    })
    const [added, done] = ['response.output_item.added', 'response.output_item.done']
    expect(order).toEqual([added, done, added, done, added, 'tide_at', done, added, 'list_ports', done])
  })

  test('each item of a unary reply once, after its content', async () => {
    const outcome = await fixture('thinking-tools.json')
    expect(typesOf(outcome)).toEqual([
      'response.output_item.done',
      'response.output_item.done',
      'response.output_item.done',
      'response.output_item.done',
      'response completed',
    ])
    expect(nativesOf(outcome).map(({ event }) => event?.output_index)).toEqual([0, 1, 2, 3, undefined])
  })

  test('unknown events and fields', async () => {
    const strange = { type: 'response.weather.changed', sky: 'clear' }
    const last = { ...completed([]), meter: { ticks: 3 } }
    const outcome = await streamed(strange, { type: 'keepalive' }, last)
    expect(nativesOf(outcome)[1]).toEqual({ event: strange })
    expect(nativesOf(outcome)[2]?.response).toMatchObject({ id: 'r', meter: { ticks: 3 } })
    expect(outcome.events).toHaveLength(6)
  })
})
