import { throwIfCancelled } from '../../core/cancellation.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Finish, FrameBatch, InferenceFrame, InferenceFrames, JsonObject } from '../../core/events.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { Closing } from '../../core/result.ts'
import type { SearchResult } from '../../core/web-access.ts'
import type { Conversation, Opening, StepLoop, StepTotals } from '../generation.ts'
import { end } from '../pipeline.ts'
import { throughPlugins } from '../plugins/frames.ts'
import type { Ending } from '../reply/meter.ts'
import { fail, logContent, metadataOf, settle, settleAlone } from '../settle.ts'
import { familyOf, stepOpening } from '../steps/family.ts'
import { dispatch } from '../upstream/dispatch.ts'
import { type Dispatched, uncalled } from '../upstream/first-content.ts'
import { toolAccessOf } from './access.ts'
import { askingCallOf, type CallCourse, type CallRunner, createCallRunner } from './calls.ts'
import { startClock } from './clock.ts'
import type { EndedCall } from './ended-call.ts'
import { withMcp } from './mcp.ts'
import { nextRequest } from './next-request.ts'
import type { ToolRequest } from './requested.ts'
import { carriedEvents, eventsOf } from './shown-calls.ts'
import { createStepReader, type Shown, type StepReader } from './step.ts'
import { stoppedBy } from './stop.ts'
import {
  CALL_BOUND,
  isCallBound,
  STEP_BOUND,
  TIME_BOUND,
  type ToolReport,
  tokensOf,
  totalOf,
  withToolStage,
} from './totals.ts'
import type { WrittenCall } from './written-call.ts'

/** Begins the generation of a further step. */
type OpenStep = (opening: Opening<InferenceRequest>) => Conversation | Promise<Conversation>

/** The state of one loop. */
interface Loop {
  readonly first: Conversation
  readonly totals: StepTotals
  readonly asked: ToolRequest
  readonly openStep: OpenStep
  readonly runner: CallRunner
  readonly shown: Shown
  readonly closings: Closing[]
  /** What tools found until now. */
  readonly sources: SearchResult[]
  readonly finishReasons: Set<string>
  readonly calls: Map<string, number>
  /** Of content filters in results. */
  readonly findings: JsonObject[]
  /** On the ticker's clock. */
  readonly endsAt: number
  request: InferenceRequest
  step: Conversation
  steps: number
  settling: Promise<Closing> | null
  /** Stops the clock of the step that runs. */
  stopClock: () => void
  finish: Finish
  stopped: string | null
}

/** One step after the other: the model's calls of server tools are run between them. */
export function createToolLoop(
  first: Conversation,
  totals: StepTotals,
  asked: ToolRequest,
  openStep: OpenStep,
  facilitiesOf: CallCourse['facilitiesOf'],
): StepLoop {
  const { deps } = first
  const { callMs, totalMs } = deps.toolBounds
  const family = familyOf(first, totals)
  const access = toolAccessOf(family.caller, family.snapshot, deps)
  const loop: Loop = {
    first,
    totals,
    asked,
    openStep,
    runner: createCallRunner(asked, { family, deps, facilitiesOf, access, callMs }),
    shown: { textLength: 0, nextDetail: 0, callIds: new Set(callIdsOf(asked.request)) },
    closings: [],
    sources: [],
    finishReasons: new Set(),
    calls: new Map(),
    findings: [],
    endsAt: deps.ticker.now() + totalMs,
    request: asked.request,
    step: first,
    steps: asked.approved.length === 0 ? 1 : 0,
    settling: null,
    stopClock: () => undefined,
    finish: { choice: 0, reason: 'stop', native: null },
    stopped: null,
  }
  return {
    async start() {
      const dispatched = asked.approved.length === 0 ? await dispatchStep(loop) : null
      const frames = withMcp(framesOf(loop, dispatched), asked.mcp, first.request)
      return throughPlugins(first, { ...(dispatched ?? uncalled(first)), frames })
    },
    async settle(ending) {
      loop.stopClock()
      await settleStep(loop, ending)
      logContent(first, ending)
      return {
        ...totalOf(loop.closings, first.opening.parent === undefined),
        finishes: [loop.finish],
        serviceMetadata: withToolStage(metadataOf(first), reportOf(loop)),
      }
    },
  }
}

const callIdsOf = ({ messages }: InferenceRequest): string[] =>
  messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id))

const reportOf = ({ steps, totals, calls, findings, stopped }: Loop): ToolReport => ({
  steps,
  use: totals.tools,
  calls,
  findings,
  stoppedBy: stopped,
})

/** Settles the current step once. The first step is the generation that the loop belongs to. */
function settleStep(loop: Loop, ending: Ending): Promise<Closing> {
  const { step, first } = loop
  const settling =
    loop.settling ??
    (step === first ? settleAlone(first, ending) : settle(step, ending)).then((closing) => {
      loop.closings.push(closing)
      return closing
    })
  loop.settling = settling
  return settling
}

type Frames = InferenceFrames & AsyncGenerator<FrameBatch>

async function* framesOf(loop: Loop, dispatched: Dispatched | null): Frames {
  let answering = dispatched ?? (yield* afterApproved(loop))
  for (;;) {
    const reader = readerOf(loop)
    yield* shownFrames(loop, answering, reader)
    const { calls, result, pieces, requested, handedOver, finish } = reader.end()
    loop.totals.tools.requested += requested
    loop.finish = handedOver > 0 || finish.reason !== 'tool_calls' ? finish : { ...finish, reason: 'stop' }
    loop.finishReasons.add(finish.reason)
    const settling = settleStep(loop, 'complete')
    settling.catch(() => undefined)
    // A reply that was cut may end within a call.
    const isWhole = finish.reason === 'tool_calls' || finish.reason === 'stop'
    const wasLast = loop.stopped !== null
    const due = isWhole && !wasLast ? calls : []
    const asking = due.flatMap((call) => askingCallOf(call, loop.asked) ?? [])
    const asked = new Set(asking.map(({ id }) => id))
    const free = due.filter(({ id }) => !asked.has(id))
    const results = yield* runCalls(loop, free)
    await settling
    if (loop.step !== loop.first) end(loop.step)
    const carried = handedOver === 0 ? [] : carriedEvents(results, loop.first.request, loop.shown)
    if (carried.length > 0) yield [{ events: carried }]
    if (asking.length > 0) yield [{ events: asking.map((call) => ({ type: 'server-tool', call })) }]
    if (results.length === 0 || handedOver + asking.length > 0) break
    throwIfCancelled(loop.first.cancellation)
    loop.stopped = reasonToStop(loop)
    loop.request = nextRequest(loop.request, answering.attempt, {
      reply: result.choices[0],
      pieces,
      calls,
      results,
      isLast: loop.stopped !== null,
    })
    answering = await nextStep(loop)
  }
  yield [{ events: [{ type: 'response-end', finishes: [loop.finish] }] }]
}

const CALLED: Finish = { choice: 0, reason: 'tool_calls', native: null }

/** Runs the calls that the user has approved, and asks the model with their results. */
async function* afterApproved(loop: Loop): AsyncGenerator<FrameBatch, Dispatched> {
  const { approved, answered, request } = loop.asked
  loop.totals.tools.requested += approved.length
  loop.first.meter.see({ events: [{ type: 'response-end', finishes: [CALLED] }] })
  const ended = yield* runCalls(loop, approved)
  await settleStep(loop, 'complete')
  const results = new Map(approved.map(({ id }, i) => [id, ended[i]?.message ?? '']))
  loop.request = { ...request, messages: answered(results) }
  return nextStep(loop)
}

/** One text is the answer in these dialects: what the model says before a call is a paragraph of it. */
const SEPARATORS: Readonly<Record<string, string>> = { chat: '\n\n', gemini: '\n\n' }

const readerOf = ({ shown, asked, first: { request }, sources }: Loop): StepReader =>
  createStepReader({
    shown,
    isServerTool: (name) => asked.byFunction.has(name),
    separator: SEPARATORS[request.dialect ?? 'chat'] ?? '',
    sources,
    dialect: request.dialect,
  })

/** The frames of a step for the caller. They are counted before, because the caller does not see all of them. */
async function* shownFrames(
  loop: Loop,
  { frames }: Dispatched,
  reader: StepReader,
): AsyncGenerator<FrameBatch, void> {
  const { step } = loop
  try {
    for await (const batch of frames) {
      const shown: InferenceFrame[] = []
      for (const frame of batch) {
        step.meter.see(frame)
        shown.push(...reader.see(frame))
      }
      if (shown.length > 0) yield shown
    }
  } catch (error) {
    throw await stepFailed(loop, error, true)
  } finally {
    loop.stopClock()
  }
}

function dispatchStep(loop: Loop): Promise<Dispatched> {
  loop.stopClock = startClock(loop.step, loop.endsAt, loop.stopped !== null)
  return dispatch(loop.step)
}

/** The first step is settled by the reader of the reply, as without tools. `isBegun`: its reply broke off. */
async function stepFailed(loop: Loop, error: unknown, isBegun: boolean): Promise<unknown> {
  const { step, first } = loop
  if (step === first) return error
  end(step)
  const isAborted = step.cancellation.reason !== null && !(step.cancellation.reason instanceof GatewayError)
  if (isBegun && first.request.stream && !isAborted)
    await settleStep(loop, 'truncated').catch(() => undefined)
  return fail(step, error)
}

/** Runs the calls at once, and shows each with its result in the model's order. */
async function* runCalls(
  loop: Loop,
  calls: readonly WrittenCall[],
): AsyncGenerator<FrameBatch, readonly EndedCall[]> {
  const started = calls.map((call) => loop.runner.start(call))
  const results: EndedCall[] = []
  for (const { begun, ended } of started) {
    yield [{ events: [{ type: 'server-tool', call: begun }] }]
    const result = await ended
    results.push(result)
    loop.sources.push(...(result.result?.sources ?? []))
    loop.findings.push(...result.findings)
    loop.calls.set(begun.name, (loop.calls.get(begun.name) ?? 0) + 1)
    yield [{ events: eventsOf(result, loop.first.request) }]
    if (result.refusal) throw result.refusal
    throwIfCancelled(loop.first.cancellation)
  }
  return results
}

/** Why the next step is the last one, which may call no tools; null: it is not. */
function reasonToStop(loop: Loop): string | null {
  const { asked, steps, closings, runner, totals, first, finishReasons } = loop
  const progress = {
    steps,
    tokens: closings.reduce((sum, closing) => sum + tokensOf(closing), 0),
    costNanoUsd: (closings[0]?.costNanoUsd ?? 0) + totals.costNanoUsd,
    called: runner.called,
    finishReasons,
  }
  const condition = stoppedBy(asked.stop, progress)
  if (condition !== null) return condition
  if (isCallBound(asked.stop, totals.tools.executed)) return CALL_BOUND
  if (steps >= first.deps.toolBounds.steps) return STEP_BOUND
  return first.deps.ticker.now() >= loop.endsAt ? TIME_BOUND : null
}

async function nextStep(loop: Loop): Promise<Dispatched> {
  const { first, totals, openStep, request } = loop
  const opening = stepOpening(familyOf(first, totals), 'tools', first.deps.now())
  loop.step = await openStep({ ...opening, request })
  loop.steps += 1
  loop.settling = null
  try {
    return await dispatchStep(loop)
  } catch (error) {
    throw await stepFailed(loop, error, false)
  }
}
