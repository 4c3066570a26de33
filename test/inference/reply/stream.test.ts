import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Attempt } from '../../../src/core/attempt.ts'
import { cancel } from '../../../src/core/cancellation.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import type { StreamWriter } from '../../../src/dialects/dialect.ts'
import type { Ending } from '../../../src/inference/reply/meter.ts'
import { createTextStream, type TextStream } from '../../../src/inference/reply/text-stream.ts'
import { createTicker, type Ticker } from '../../../src/inference/reply/ticker.ts'
import { CallerDisconnected } from '../../../src/inference/upstream/abort.ts'
import type { Dispatched } from '../../../src/inference/upstream/first-content.ts'
import { endpoint, model, provider } from '../fixture.ts'
import { generationWith } from '../generation.ts'

let ticker: Ticker
beforeEach(() => {
  ticker = createTicker(Date.now)
})
afterEach(() => ticker.close())

interface Observed {
  endings: Ending[]
  kept: [Ending, JsonObject | null][]
  ended: number
  lost: unknown[]
}

/** One stream whose settlement takes as long as the test wants. */
function begin(more: Partial<StreamWriter> = {}) {
  const lab = endpoint('lab', 'lab/tiny')
  const record = provider('lab')
  const attempt: Attempt = {
    model: model('lab/tiny', [lab]),
    endpoint: lab,
    provider: record,
    credential: { id: 'lab-1', secret: 'secret' },
    dialect: 'chat',
  }
  const committed = Promise.withResolvers<void>()
  const settling = Promise.withResolvers<void>()
  const observed: Observed = { endings: [], kept: [], ended: 0, lost: [] }
  const ended = Promise.withResolvers<void>()
  const generation = generationWith(attempt, {
    settle(ending) {
      settling.resolve()
      observed.endings.push(ending)
      return committed.promise
    },
    end() {
      observed.ended += 1
      ended.resolve()
    },
    onLost: (error) => observed.lost.push(error),
    ticker,
  })
  let whole: JsonObject | null = null
  const writer: StreamWriter = {
    echo: () => '',
    write: () => 'words ',
    end: () => {
      whole = { status: 'completed' }
      return 'end'
    },
    fail: () => {
      whole = { status: 'failed' }
      return 'failed'
    },
    reply: () => whole,
    ...more,
  }
  const started: Dispatched = {
    attempt,
    dropped: [],
    frames: {
      async *[Symbol.asyncIterator]() {
        yield [{ events: [{ type: 'text-delta', choice: 0, text: 'words ' }] }]
      },
    },
  }
  const stream = createTextStream({
    generation,
    starting: Promise.resolve(started),
    open: () => writer,
    unansweredWriter: () => writer,
    recorder: {
      begin: async () => undefined,
      end: async (ending, reply) => void observed.kept.push([ending, reply]),
    },
  })
  return {
    stream,
    observed,
    disconnect: () => cancel(generation.cancellation, new CallerDisconnected()),
    settling: settling.promise,
    commit: committed.resolve,
    fail: committed.reject,
    ended: ended.promise,
  }
}

/** Reads on in the background, as a connection does. */
async function drain(stream: TextStream): Promise<string> {
  let text = ''
  for (let piece = await stream.next(); piece !== null; piece = await stream.next()) text += piece
  return text
}

test('long texts follow what was returned with them, in pieces of at most 256 kB', async () => {
  let hold: (text: string) => void = () => undefined
  const long = '😀'.repeat(500_000)
  const { stream, commit } = begin({
    holdLong: (take) => {
      hold = take
    },
    end() {
      hold(long)
      hold('last')
      return 'first '
    },
  })
  commit()
  const pieces: string[] = []
  for (let piece = await stream.next(); piece !== null; piece = await stream.next()) pieces.push(piece)
  expect(pieces.join('') === `words first ${long}last`).toBe(true)
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(256 * 1024)
})

test('a complete reply is settled, then recorded, then ended', async () => {
  const { stream, observed, settling, commit, ended } = begin()
  const read = drain(stream)
  await settling
  expect(observed).toMatchObject({ endings: ['complete'], kept: [], ended: 0 })
  commit()
  expect(await read).toBe('words end')
  await ended
  expect(observed).toEqual({
    endings: ['complete'],
    kept: [['complete', { status: 'completed' }]],
    ended: 1,
    lost: [],
  })
})

test('a client that disconnects while its complete reply is settled has ended too, and the record is complete', async () => {
  const { stream, disconnect, observed, settling, commit, ended } = begin()
  const read = drain(stream)
  await settling
  disconnect()
  commit()
  await ended
  expect(await read).toBe('words ')
  expect(observed).toMatchObject({
    endings: ['complete'],
    kept: [['complete', { status: 'completed' }]],
    lost: [],
  })
})

test('a client that disconnects before the end is recorded with the text until then', async () => {
  const { stream, disconnect, observed, commit, ended } = begin()
  await stream.next()
  disconnect()
  commit()
  await ended
  expect(observed).toEqual({
    endings: ['disconnected'],
    kept: [['disconnected', { status: 'failed' }]],
    ended: 1,
    lost: [],
  })
})

test('a failing settlement leaves nothing open, with the client connected or not', async () => {
  const staying = begin()
  const read = drain(staying.stream)
  await staying.settling
  staying.fail(new Error('the disk is full'))
  await staying.ended
  expect(await read).toBe('words failed')
  const leaving = begin()
  await leaving.stream.next()
  leaving.disconnect()
  leaving.fail(new Error('the disk is full'))
  await leaving.ended
  for (const { observed } of [staying, leaving])
    expect(observed).toMatchObject({
      kept: [[expect.any(String), { status: 'failed' }]],
      ended: 1,
      lost: [expect.any(Error)],
    })
})
