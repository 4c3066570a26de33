import type { Attempt } from '../core/attempt.ts'
import type { UpstreamError } from '../core/errors.ts'
import {
  type DialectName,
  type FrameBatch,
  type InferenceFrame,
  type InferenceFrames,
  isContent,
} from '../core/events.ts'
import type { InferenceRequest } from '../core/request.ts'
import type { DialectCall, Egress, Lesser } from '../dialects/dialect.ts'
import { egresses } from '../dialects/index.ts'
import { type Asking, type DispatchDeps, type DispatchLog, tryAttempts } from './attempts.ts'
import { type ContextUse, throughContext } from './context-cache/apply.ts'
import { withWriting } from './context-cache/charge.ts'
import { makeContext } from './context-cache/make.ts'
import { countedContent, withContents } from './url-contents.ts'

/** A reply whose first content is there (or that ended whole without any). */
export interface Dispatched {
  attempt: Attempt
  frames: InferenceFrames
  dropped: string[]
}

/** Settings let no provider through whose dialect has no code. */
const spoken: Partial<Record<DialectName, Egress>> = egresses

function egressOf({ dialect }: Attempt): Egress {
  const egress = spoken[dialect]
  if (!egress) throw new Error(`no code speaks the dialect ${dialect}`)
  return egress
}

/**
 * Tries the attempts in order until one gives its first content. Throws a `GatewayError` when none does, or when
 * the request itself is at fault; rethrows the abort when the caller left.
 */
export async function dispatch(
  request: InferenceRequest,
  attempts: readonly Attempt[],
  deps: DispatchDeps,
  signal: AbortSignal,
  log: DispatchLog,
): Promise<Dispatched> {
  const { attempt, answer, dropped } = await tryAttempts(
    askingFor(request, deps),
    attempts,
    deps,
    signal,
    log,
  )
  return { attempt, frames: answer, dropped }
}

/** What an endpoint refused of one request. */
interface Refused {
  /** By the name under which each is dropped. */
  readonly parts: readonly string[]
  /** The attempt in the dialect that it wants to be called in. */
  readonly instead?: Attempt
}

/**
 * `Please use /v1/responses instead` for tools with reasoning, `This model is only supported in v1/responses` (OpenAI,
 * 2026). An endpoint that names Responses speaks it, even where neither catalogue nor settings say so.
 */
const WANTS_RESPONSES = /\bv1\/responses\b/

function askingFor(request: InferenceRequest, deps: DispatchDeps): Asking<InferenceFrames> {
  /** What a call was read from that was refused: whether for that, the next one shows. */
  let suspect: ContextUse | null = null
  const refused = new Map<Attempt, Refused>()
  const spokenTo = (attempt: Attempt): Attempt => refused.get(attempt)?.instead ?? attempt

  function built(whole: InferenceRequest, attempt: Attempt, egress: Egress): DialectCall {
    const call = called(whole, spokenTo(attempt), egress)
    const parts = refused.get(attempt)?.parts ?? []
    const left = (call.lessers ?? []).filter(({ without }) => parts.includes(without))
    if (left.length === 0) return call
    return {
      ...call,
      body: left.reduce((body, lesser) => lesser.bodyFrom(body), call.body),
      dropped: [...new Set([...call.dropped, ...left.map(({ without }) => without)])],
    }
  }

  /** True if the next call to the same endpoint is another one. */
  function learnt(attempt: Attempt, { status, reason }: UpstreamError, lessers: readonly Lesser[]): boolean {
    if (status !== 400 && status !== 404) return false
    const known = refused.get(attempt) ?? { parts: [] }
    if (attempt.dialect === 'chat' && known.instead === undefined && WANTS_RESPONSES.test(reason)) {
      refused.set(attempt, { ...known, instead: { ...attempt, dialect: 'responses' } })
      return true
    }
    const part = lessers.find(({ without, isRefused }) => !known.parts.includes(without) && isRefused(reason))
    if (status !== 400 || part === undefined) return false
    refused.set(attempt, { ...known, parts: [...known.parts, part.without] })
    return true
  }

  function throughCache(call: DialectCall, attempt: Attempt, log: DispatchLog): DialectCall {
    // It is built anew since it failed: what was claimed for it is open to others again, and nothing is read any more.
    const isWithout = log.context?.context !== undefined && log.context.context !== null
    log.context?.settled(null)
    log.context = null
    if (call.cuts === undefined || isWithout || suspect !== null) return call
    const asked = { preferences: request.preferences, attempt, owner: log.contextOwner }
    const make = (making: DialectCall) => makeContext(making, attempt, egressOf(attempt), deps)
    log.context = throughContext(call, asked, deps.contexts, make)
    return log.context?.call ?? call
  }

  return {
    build(attempt, signal, log) {
      const egress = egressOf(spokenTo(attempt))
      const fetchContent = countedContent(deps.fetchContent, log.body)
      const whole = withContents(request, spokenTo(attempt), egress, log.contents, fetchContent, signal)
      if (whole instanceof Promise)
        return whole.then((fetched) => throughCache(built(fetched, attempt, egress), attempt, log))
      return throughCache(built(whole, attempt, egress), attempt, log)
    },
    async read(reply, attempt, _, { context: use }) {
      suspect?.refused()
      const read = egressOf(spokenTo(attempt)).read(reply, request.stream)
      const told = use?.context ? withWriting(read, use.context, use.claim) : read
      const { first, all } = await untilContent(told)
      return { answer: all, upstreamId: upstreamIdOf(first) }
    },
    readError: (attempt, status, headers, text) =>
      egressOf(spokenTo(attempt)).readError(status, headers, text),
    mayBuildAgain(error, { context: use, current }, { lessers = [] }) {
      if (current !== null && learnt(current, error, lessers)) return true
      const { status } = error
      // Whatever the words: it may well be the cache, and without it the call is one like all others.
      if (!use?.context || (status !== 400 && status !== 403 && status !== 404)) return false
      suspect = use
      return true
    },
  }
}

/** What only the caller's own dialect can carry is dropped wherever another one is spoken. */
function called(request: InferenceRequest, attempt: Attempt, egress: Egress): DialectCall {
  const call = egress.build(request, attempt)
  const { ownFields = [], unreadable = [] } = request
  const isOwn = attempt.dialect === request.dialect
  if (unreadable.length === 0 && (isOwn || ownFields.length === 0)) return call
  // Some dialects have a field of the same name and meaning.
  const isLost = (name: string): boolean =>
    request.body[name] === undefined || call.body[name] !== request.body[name]
  const lost = [...unreadable, ...(isOwn ? [] : ownFields.filter(isLost))]
  return lost.length === 0 ? call : { ...call, dropped: [...new Set([...call.dropped, ...lost])] }
}

/** Reads ahead to the first content, and gives back a stream whose first batch is what was read. */
export async function untilContent(
  frames: InferenceFrames,
  isFirst: (frame: InferenceFrame) => boolean = isAnswer,
): Promise<{ first: InferenceFrame[]; all: InferenceFrames }> {
  const iterator = frames[Symbol.asyncIterator]()
  const first: InferenceFrame[] = []
  for (;;) {
    const { value, done } = await iterator.next()
    if (done) break
    for (const frame of value) first.push(frame)
    if (value.some(isFirst)) break
  }
  return { first, all: continued(first, iterator) }
}

const isAnswer = ({ events }: InferenceFrame): boolean =>
  events.some((event) => isContent(event) || event.type === 'response-end')

function continued(first: FrameBatch, rest: AsyncIterator<FrameBatch>): InferenceFrames {
  let isFirst = first.length > 0
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        if (!isFirst) return rest.next()
        isFirst = false
        return Promise.resolve({ value: first, done: false as const })
      },
      return: async () => {
        isFirst = false
        await rest.return?.()
        return { value: undefined, done: true as const }
      },
    }),
  }
}

export function upstreamIdOf(frames: FrameBatch): string | null {
  for (const frame of frames) {
    for (const event of frame.events)
      if (event.type === 'response-start' && event.upstreamId) return event.upstreamId
  }
  return null
}
