import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Attempt } from '../../src/core/attempt.ts'
import type { JsonObject } from '../../src/core/events.ts'
import type { Closing } from '../../src/core/result.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import type { StreamWriter } from '../../src/dialects/dialect.ts'
import type { Dispatched } from '../../src/inference/dispatch.ts'
import type { Exchange } from '../../src/inference/exchange.ts'
import { createMeter, type Ending } from '../../src/inference/meter.ts'
import { streamReply } from '../../src/inference/stream.ts'
import { createTicker, type Ticker } from '../../src/inference/ticker.ts'
import { endpoint, model, provider } from './fixture.ts'

const CLOSING: Closing = {
  finishes: [],
  usage: NO_USAGE,
  costNanoUsd: 0,
  promptCostNanoUsd: 0,
  completionCostNanoUsd: 0,
  isByok: false,
  serviceTier: null,
  serviceMetadata: null,
}

let ticker: Ticker
beforeEach(() => {
  ticker = createTicker(Date.now)
})
afterEach(() => ticker.close())

interface Told {
  endings: Ending[]
  kept: [Ending, JsonObject | null][]
  ended: number
  lost: unknown[]
}

/** One stream whose settlement takes as long as the test wants. */
function begin() {
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
  const told: Told = { endings: [], kept: [], ended: 0, lost: [] }
  let settled: Promise<Closing> | null = null
  const exchange: Exchange = {
    generationId: 'gen-1',
    startedAt: 0,
    meter: createMeter(Date.now, 0),
    attempts: [attempt],
    log: {
      tries: [],
      sentBodies: [],
      onFailOver: () => undefined,
      current: null,
      isAsked: false,
      contents: new Map(),
      contextOwner: null,
      context: null,
    },
    content: null,
    dropped: [],
    onWhole: null,
    settle(ending) {
      settling.resolve()
      if (settled === null) told.endings.push(ending)
      settled ??= committed.promise.then(() => CLOSING)
      return settled
    },
    metadata: () => null,
  }
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
  const caller = new AbortController()
  const ended = Promise.withResolvers<void>()
  const body = streamReply({
    starting: Promise.resolve(started),
    isLate: false,
    exchange,
    ticker,
    upstreamAbort: new AbortController(),
    callerSignal: caller.signal,
    open: () => ({ writer, echoed: [] }),
    failureWriter: () => writer,
    keeper: {
      isDetached: false,
      begin: async () => undefined,
      end: async (ending, reply) => void told.kept.push([ending, reply]),
    },
    ended() {
      told.ended += 1
      ended.resolve()
    },
    onLost: (error) => told.lost.push(error),
  })
  return {
    body,
    caller,
    told,
    settling: settling.promise,
    commit: committed.resolve,
    fail: committed.reject,
    ended: ended.promise,
  }
}

/** Reads on in the background, as a connection does. */
async function drain(body: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  try {
    for await (const chunk of body) text += decoder.decode(chunk, { stream: true })
    return text
  } catch {
    return `${text}…`
  }
}

test('a whole reply is settled, then kept, then ended', async () => {
  const { body, told, settling, commit, ended } = begin()
  const read = drain(body)
  await settling
  expect(told).toMatchObject({ endings: ['whole'], kept: [], ended: 0 })
  commit()
  expect(await read).toBe('words end')
  await ended
  expect(told).toEqual({ endings: ['whole'], kept: [['whole', { status: 'completed' }]], ended: 1, lost: [] })
})

test('a caller that leaves while its whole reply is settled has ended too, and what was kept is whole', async () => {
  const { body, caller, told, settling, commit, ended } = begin()
  const read = drain(body)
  await settling
  caller.abort()
  commit()
  await ended
  expect(await read).toBe('words …')
  expect(told).toMatchObject({ endings: ['whole'], kept: [['whole', { status: 'completed' }]], lost: [] })
})

test('a caller that leaves before the end is kept with what was written', async () => {
  const { body, caller, told, commit, ended } = begin()
  const reader = body.getReader()
  await reader.read()
  caller.abort()
  commit()
  await ended
  expect(told).toEqual({ endings: ['left'], kept: [['left', { status: 'failed' }]], ended: 1, lost: [] })
})

test('a settlement that fails leaves nothing open, whether the caller stays or leaves', async () => {
  const staying = begin()
  const read = drain(staying.body)
  await staying.settling
  staying.fail(new Error('the disk is full'))
  await staying.ended
  expect(await read).toBe('words failed')
  const leaving = begin()
  await leaving.body.getReader().read()
  leaving.caller.abort()
  leaving.fail(new Error('the disk is full'))
  await leaving.ended
  for (const { told } of [staying, leaving])
    expect(told).toMatchObject({
      kept: [[expect.any(String), { status: 'failed' }]],
      ended: 1,
      lost: [expect.any(Error)],
    })
})
