import { GatewayError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import type { ReplyContext } from '../../core/result.ts'
import type { StoredResponse } from '../../core/stored-response.ts'
import { turnOfLoop } from '../../core/turn.ts'
import { beginConversation, type ConversationOpening, streamedReply } from '../conversation/run.ts'
import type { RunDeps } from '../generation.ts'
import type { ResponseRecorder } from '../reply/recorder.ts'
import type { TextStream } from '../reply/text-stream.ts'
import { createBlockSplitter, createEventLog, type EventLog } from './event-log.ts'
import { modelOf, newResponse, outputIds, type StoreContext, storeResponse } from './recorder.ts'
import { inProgress, queued, type StoredReply, storedReply } from './stored-reply.ts'
import { isTerminal, terminalEvent } from './terminal-event.ts'

/** A background response, which runs independently of its caller's connection. */
export interface BackgroundRun {
  readonly response: StoredResponse
  /** The queued Response object. */
  readonly reply: JsonObject
  /** Null if the caller did not request a stream. */
  readonly events: EventLog | null
  /** Stops it. Resolves once the delivered part is settled and stored. */
  cancel(): Promise<void>
  /** Resolves when it has ended. Never rejects. */
  readonly ended: Promise<void>
}

type BackgroundOpening = Omit<ConversationOpening, 'signal' | 'recorder'>

export interface BackgroundRuns {
  /** Resolves when it is admitted and stored. Rejects with the caller's error. */
  start(storing: StoreContext, input: BackgroundOpening, deps: RunDeps): Promise<BackgroundRun>
  find(responseId: string): BackgroundRun | undefined
  /** Waits for the last writes of all runs, after the drain has ended them. */
  close(): Promise<void>
}

/** The same as the maximum of concurrent requests of a key. */
const MOST_RUNS_OF_A_KEY = 500
const RETRY_AFTER_SECONDS = 5

export function createBackgroundRuns(mostOfAKey = MOST_RUNS_OF_A_KEY): BackgroundRuns {
  const runs = new Map<string, BackgroundRun>()
  const runsOf = new Map<string, number>()

  function count(keyHash: string, by: 1 | -1): void {
    const now = (runsOf.get(keyHash) ?? 0) + by
    if (now === 0) runsOf.delete(keyHash)
    else runsOf.set(keyHash, now)
  }

  return {
    async start(storing, input, deps) {
      const { hash } = storing.caller.key
      if ((runsOf.get(hash) ?? 0) >= mostOfAKey) throw tooMany(mostOfAKey)
      count(hash, 1)
      try {
        const started = await startRun(storing, input, deps)
        runs.set(started.response.id, started)
        started.ended.then(() => {
          runs.delete(started.response.id)
          count(hash, -1)
        })
        return started
      } catch (error) {
        count(hash, -1)
        throw error
      }
    },
    find: (responseId) => runs.get(responseId),
    async close() {
      await Promise.all([...runs.values()].map(({ ended }) => ended))
    },
  }
}

const tooMany = (running: number): GatewayError =>
  new GatewayError(429, `This key has ${running} background responses running, the most at once`, {
    metadata: { error_type: 'rate_limit_exceeded' },
    refusal: { reason: 'rate', gate: 'background' },
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  })

async function startRun(
  storing: StoreContext,
  input: BackgroundOpening,
  deps: RunDeps,
): Promise<BackgroundRun> {
  const stop = new AbortController()
  const recorder = backgroundRecorder(storing, (context) => writtenQueued(input, context))
  // The provider always streams: a long reply would exceed the first-byte timeout, and a cancelled run keeps its output.
  const request = { ...input.request, stream: true }
  const opening = { ...input, request, signal: stop.signal, recorder }
  const reply = await streamedReply(await beginConversation(opening, deps), opening)
  const { response, initialReply } = recorder.started()
  const lost = (error: unknown): void => storing.onLost(error, response.generationId)
  const events = response.streamed ? createEventLog(response, storing.store, lost) : null
  const ended = recorder
    .markInProgress()
    .catch(lost)
    .then(() => relay(reply, events, recorder.kept))
    .catch(lost)
  return {
    response,
    reply: initialReply,
    events,
    ended,
    cancel() {
      stop.abort()
      return ended
    },
  }
}

/** Reads the reply to its end, and appends its events. The recorder stores the result. */
async function relay(reply: TextStream, events: EventLog | null, kept: Promise<StoredReply>): Promise<void> {
  const completedBy = createBlockSplitter()
  for (let piece = await reply.next(); piece !== null; piece = await reply.next()) {
    const text = completedBy(piece)
    if (text !== '') events?.append(text)
    await turnOfLoop()
  }
  const { status, reply: last } = await kept
  if (events === null) return
  if (!isTerminal(events.lastEvent())) events.append(terminalEvent(status, last, events.last() + 1))
  await events.close()
}

interface BackgroundRecorder extends ResponseRecorder {
  /** The response as it was stored initially. Throws before that. */
  started(): { response: StoredResponse; initialReply: JsonObject }
  /** Changes the status from `queued` to `in_progress`. */
  markInProgress(): Promise<void>
  /** The final reply. Resolves once it is stored, or storing it has failed. */
  readonly kept: Promise<StoredReply>
}

/** Stores the response when it is admitted, and updates it when it starts and ends. */
function backgroundRecorder(
  storing: StoreContext,
  firstReply: (context: ReplyContext) => JsonObject,
): BackgroundRecorder {
  const kept = Promise.withResolvers<StoredReply>()
  const { store, onLost } = storing
  let started: { response: StoredResponse; initialReply: JsonObject } | null = null
  const known = () => {
    if (started === null) throw new Error('the background response has not started')
    return started
  }
  let isInProgress = false
  async function markInProgress(): Promise<void> {
    const { response, initialReply } = known()
    await store.advance(response.id, { status: 'in_progress', reply: inProgress(initialReply) })
    isInProgress = true
  }
  return {
    started: known,
    kept: kept.promise,
    async begin(context) {
      const initialReply = firstReply(context)
      const response = newResponse(storing, context, 'queued', undefined)
      await storeResponse(storing, response, initialReply)
      started = { response, initialReply }
    },
    markInProgress,
    async end(ending, written) {
      const { response, initialReply } = known()
      const last = storedReply(ending, written ?? initialReply)
      const { status, reply } = last
      try {
        // The update may have failed when the response started, for example on a full disk.
        if (!isInProgress) await markInProgress()
        const model = modelOf(reply)
        await store.advance(response.id, {
          status,
          reply,
          itemIds: outputIds(reply),
          ...(model === undefined ? {} : { model }),
        })
      } catch (error) {
        onLost(error, response.generationId)
      }
      kept.resolve(last)
    },
  }
}

/** The queued Response object, made by failing a writer before any output. */
function writtenQueued({ ingress }: Pick<ConversationOpening, 'ingress'>, context: ReplyContext): JsonObject {
  const writer = ingress.writeStream(context)
  writer.fail({ status: 500, message: '' })
  return queued(writer.reply?.() ?? {})
}
