import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { StoredResponse } from '../../../src/core/stored-response.ts'
import {
  createEventLog,
  type EventLog,
  type EventSource,
  eventsOf,
  storedEvents,
} from '../../../src/inference/responses/event-log.ts'
import { response, type Store, startStore, turnOf } from '../../bodies/fixture.ts'

let started: Store
let kept: StoredResponse
let log: EventLog
let lost: unknown[]

beforeEach(async () => {
  started = startStore()
  kept = response('01', { status: 'in_progress', background: true, streamed: true })
  await started.store.keep(kept, turnOf('x'))
  lost = []
  log = createEventLog(kept, started.store, (error) => lost.push(error))
})
afterEach(() => started.stop())

const event = (n: number, more: Record<string, unknown> = {}): string =>
  `event: response.output_text.delta\ndata: ${JSON.stringify({ type: 'response.output_text.delta', sequence_number: n, ...more })}\n\n`
const end = (n: number): string =>
  `event: response.completed\ndata: {"type":"response.completed","sequence_number":${n}}\n\n`
const numbersIn = (text: string): number[] =>
  eventsOf(text).map((one) => Number(/"sequence_number":(\d+)/.exec(one)?.[1]))

/** The numbers of all that comes after one, to the end. */
async function read(source: EventSource, after = -1): Promise<number[]> {
  const numbers: number[] = []
  for (let last = after; ; ) {
    const stretch = await source.after(last)
    if (stretch === null) return numbers
    numbers.push(...numbersIn(stretch.text))
    last = stretch.last
    expect(numbers.at(-1)).toBe(last)
  }
}
const upTo = (last: number, first = 0): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)
const stretches = () =>
  started.bodies.file
    .query<{ first: number; last: number }, []>(
      "SELECT first, last FROM response_parts WHERE part = 'events'",
    )
    .all()

test('comments and the terminal marker are not events', async () => {
  log.append(': SLUICE PROCESSING\n\n')
  log.append(`${event(0)}: a comment\n\n${event(1)}`)
  log.append('data: [DONE]\n\n')
  await log.close()
  expect(log.last()).toBe(1)
  expect(await read(log)).toEqual([0, 1])
})

test('readers wait, each where it is, and all of them end', async () => {
  log.append(event(0))
  const readers = [read(log), read(log, 0), read(log, 2)]
  for (let n = 1; n < 5; n++) {
    await Promise.resolve()
    log.append(event(n))
  }
  await log.close()
  expect(await Promise.all(readers)).toEqual([upTo(4), upTo(4, 1), upTo(4, 3)])
  expect(await read(log, 9)).toEqual([])
})

test('long streams move to the store and are read from there without a gap', async () => {
  const filler = 'x'.repeat(40_000)
  const early = read(log)
  for (let n = 0; n < 20; n++) log.append(event(n, { filler }))
  while (stretches().length === 0) await new Promise((resolve) => setImmediate(resolve))
  for (let n = 20; n < 40; n++) log.append(event(n, { filler }))
  const late = [read(log), read(log, 3), read(log, 38)]
  log.append(end(40))
  await log.close()
  expect(await early).toEqual(upTo(40))
  expect(await Promise.all(late)).toEqual([upTo(40), upTo(40, 4), upTo(40, 39)])
  expect(stretches().length).toBeGreaterThan(1)
  const source = () => storedEvents(kept, started.store)
  expect(await read(source())).toEqual(upTo(40))
  expect(await read(source(), 17)).toEqual(upTo(40, 18))
  expect(await read(source(), 40)).toEqual([])
  expect(lost).toEqual([])
})

test('a failing store is logged once, and present readers get everything', async () => {
  started.bodies.file.run('DROP TABLE response_parts')
  const filler = 'x'.repeat(300_000)
  for (let n = 0; n < 3; n++) log.append(event(n, { filler }))
  await log.close()
  expect(await read(log)).toEqual([0, 1, 2])
  expect(lost).toHaveLength(1)
})

test('if a crash lost the last events, the end is sent once with the next number', async () => {
  for (let n = 0; n < 3; n++) log.append(event(n))
  await log.close()
  await started.store.advance(kept.id, { status: 'failed', reply: { id: kept.id, status: 'failed' } })
  for (const [after, expected] of [
    [-1, [0, 1, 2, 3]],
    [2, [3]],
    // It had seen more than the disk has.
    [7, [8]],
  ] as const) {
    const source = storedEvents(kept, started.store)
    expect(await read(source, after)).toEqual([...expected])
  }
  const stored = await storedEvents(kept, started.store).after(2)
  expect(stored?.text).toStartWith('event: response.failed\n')
})

test('a stream that was deleted meanwhile ends', async () => {
  log.append(event(0))
  await started.store.remove(kept.id, kept.workspaceId)
  await log.close()
  expect(stretches()).toEqual([])
  expect(await read(storedEvents(kept, started.store))).toEqual([])
  expect(lost).toEqual([])
})
