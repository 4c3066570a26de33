import { GatewayError } from '../../core/errors.ts'
import type { JsonObject, ServerToolCall } from '../../core/events.ts'
import type { Facilities } from '../../core/facilities.ts'
import { parseObject } from '../../core/json.ts'
import type { ToolAccess } from '../../core/tool-access.ts'
import type { SearchResult } from '../../core/web-access.ts'
import type { ToolResult } from '../../tools/tool.ts'
import { filterText } from '../filters/input/apply.ts'
import type { RunDeps } from '../generation.ts'
import type { Ticker } from '../reply/ticker.ts'
import type { Family } from '../steps/family.ts'
import type { EndedCall } from './ended-call.ts'
import { asData } from './former-calls.ts'
import type { RequestedTool, ToolRequest } from './requested.ts'
import { argumentsIn, MOST_ARGUMENT_CHARACTERS, type WrittenCall } from './written-call.ts'

/** Where the calls of one request run. */
export interface CallCourse {
  readonly family: Family
  readonly deps: RunDeps
  /** What tools can have done. */
  facilitiesOf(family: Family): Facilities
  readonly access: ToolAccess
  /** Of one call. */
  readonly callMs: number
}

/** Runs the calls of one request, and bounds them all together. */
export interface CallRunner {
  /** The tools that were called, by both names. */
  readonly called: ReadonlySet<string>
  start(written: WrittenCall): { readonly begun: ServerToolCall; readonly ended: Promise<EndedCall> }
}

/** Of one result; and of all results of a request. */
const MOST_RESULT_CHARACTERS = 64 * 1024
const MOST_CHARACTERS_OF_ALL = 1024 * 1024
/** The same call again changes nothing. */
const MOST_REPEATED = 3

export function createCallRunner(
  { byFunction, stop: { mostCalls } }: Pick<ToolRequest, 'byFunction' | 'stop'>,
  course: CallCourse,
): CallRunner {
  const { tools } = course.family.steps
  const called = new Set<string>()
  const uses = new Map<string, number>()
  const repeated = new Map<string, number>()
  let room = MOST_CHARACTERS_OF_ALL

  /** Why a call is not run; null: it is. */
  function refusalOf({ name, json, isTooLong }: WrittenCall, args: JsonObject | undefined): string | null {
    if (isTooLong) return `the arguments have more than ${MOST_ARGUMENT_CHARACTERS} characters`
    if (args === undefined) return 'the arguments are not a JSON object'
    if (tools.executed >= mostCalls) return `no more than ${mostCalls} calls of tools are run for one request`
    const times = (repeated.get(`${name} ${json}`) ?? 0) + 1
    repeated.set(`${name} ${json}`, times)
    return times > MOST_REPEATED
      ? `the same call was made ${MOST_REPEATED} times already: answer with what is known`
      : null
  }

  function run(requested: RequestedTool, args: JsonObject): Promise<FilteredResult> {
    const { name } = requested.tool
    const used = uses.get(name) ?? 0
    uses.set(name, used + 1)
    tools.executed += 1
    return runTool(requested, args, used, course).then((result) => filteredResult(result, course))
  }

  function cut(text: string): string {
    const most = Math.max(0, Math.min(MOST_RESULT_CHARACTERS, room))
    room -= Math.min(text.length, most)
    return text.length <= most ? text : `${text.slice(0, most)}\n[The rest was left out: it is too long]`
  }

  return {
    called,
    start(written) {
      const requested = byFunction.get(written.name)
      if (requested === undefined) throw new Error(`no server tool ${written.name}`)
      const { tool, type } = requested
      called.add(tool.name).add(type).add(written.name)
      const args = argumentsIn(written.json)
      const refused = refusalOf(written, args)
      const shared = callOf(written, requested, args ?? {})
      const failed = (why: string, refusal: GatewayError | null = null): EndedCall => ({
        call: { ...shared, status: 'failed', text: why, item: {} },
        message: `The call of ${tool.name} failed: ${why}`,
        result: null,
        refusal,
        findings: [],
      })
      async function ended(): Promise<EndedCall> {
        if (requested === undefined || refused !== null) return failed(refused ?? '')
        try {
          const { result, clean, findings } = await run(requested, args ?? {})
          const { item = {}, sources } = result
          const text = cut(clean)
          const call = { ...shared, status: 'completed' as const, text, item, ...(sources && { sources }) }
          return { call, message: asData(tool.name, text), result, refusal: null, findings }
        } catch (error) {
          const isCut = course.family.signal.aborted && written.approvalRequestId !== undefined
          return failed(isCut ? INTERRUPTED : cut(await reasonOf(error, course)), refusalIn(error))
        }
      }
      const begun: ServerToolCall = { ...shared, status: 'in_progress', text: '', item: {} }
      const key = approvalKeyOf(written, course)
      return { begun, ended: key === null ? ended() : course.deps.approvedCalls.once(key, ended) }
    },
  }
}

const INTERRUPTED = 'its request was cancelled while it ran, so it may have been made'

/** What an approval is for; null: the call needed none. */
const approvalKeyOf = (
  { approvalRequestId, name, json }: WrittenCall,
  { family }: CallCourse,
): string | null =>
  approvalRequestId === undefined
    ? null
    : JSON.stringify([family.caller.workspace.id, approvalRequestId, name, json])

const callOf = (
  { id, approvalRequestId }: WrittenCall,
  { tool: { name }, type, mcp }: RequestedTool,
  args: JsonObject,
) => ({
  id,
  name,
  type,
  arguments: args,
  ...(mcp && { mcp }),
  ...(approvalRequestId !== undefined && { approvalRequestId }),
})

/** The call as the user is asked about it; null: it runs, or fails, without an approval. */
export function askingCallOf(
  { id, name, json, isTooLong }: WrittenCall,
  { byFunction }: Pick<ToolRequest, 'byFunction'>,
): ServerToolCall | null {
  const { type = '', mcp, needsApproval = false } = byFunction.get(name) ?? {}
  const args = argumentsIn(json)
  if (!needsApproval || mcp === undefined || isTooLong || args === undefined) return null
  return { id, name, type, arguments: args, mcp, needsApproval, status: 'in_progress', text: '', item: {} }
}

/** Runs one call within its time. */
async function runTool(
  { tool, parameters }: RequestedTool,
  args: JsonObject,
  uses: number,
  { family, deps, facilitiesOf, access, callMs }: CallCourse,
): Promise<ToolResult> {
  const { signal, over, stop } = clockOf(Math.max(callMs, tool.callMs ?? 0), family.signal, deps.ticker)
  const { facilities, settled } = followed(facilitiesOf({ ...family, signal }))
  try {
    const running = tool.run(args, { ...facilities, ...access, parameters, signal, uses, now: deps.now })
    return await Promise.race([running, over])
  } finally {
    stop()
    await settled()
  }
}

/** `settled` resolves once the steps that were begun are on the ledger: the signal that ends the call ends them. */
function followed({ ask, draw, serve, pay }: Facilities) {
  const begun = new Set<Promise<unknown>>()
  function follow<Value>(step: Promise<Value>): Promise<Value> {
    begun.add(step)
    return step
  }
  const facilities: Facilities = {
    ask: (request, asking) => follow(ask(request, asking)),
    draw: (body, asking) => follow(draw(body, asking)),
    serve: (kind, body, asking) => follow(serve(kind, body, asking)),
    // It waits for a call of the tool's own, which may not heed the signal.
    pay,
  }
  return { facilities, settled: () => Promise.allSettled(begun) }
}

interface FilteredResult {
  readonly result: ToolResult
  /** Its text, as the content filters of the caller let the model have it. */
  readonly clean: string
  readonly findings: readonly JsonObject[]
}

/** Throws for a text that a filter blocks: the model does without it, because the caller did not write it. */
async function filteredResult(result: ToolResult, { family }: CallCourse): Promise<FilteredResult> {
  try {
    const { text: clean, pipeline: findings } = await filterText(result.text, family.caller)
    if (clean === result.text) return { result, clean, findings }
    return { result: await withCleanCopies(result, family.caller), clean, findings }
  } catch {
    throw new Error('its result was withheld by the content filters of a guardrail')
  }
}

/** The same texts where the caller sees them: in the item of the call, and in the names of what it found. */
async function withCleanCopies(result: ToolResult, caller: Family['caller']): Promise<ToolResult> {
  const { item, sources } = result
  const cleaned: SearchResult[] = []
  for (const source of sources ?? []) {
    const [title, text] = [await filterText(source.title, caller), await filterText(source.text, caller)]
    cleaned.push({ ...source, title: title.text, text: text.text })
  }
  // A pattern may match beyond a field: then nothing of the item is shown.
  const fields = item && (parseObject((await filterText(JSON.stringify(item), caller)).text) ?? {})
  return { ...result, ...(fields && { item: fields }), ...(sources && { sources: cleaned }) }
}

/** What failed, for the model. Servers of tools word it. */
async function reasonOf(error: unknown, { family }: CallCourse): Promise<string> {
  const { text } = await filterText(sentenceOf(error), family.caller).catch(() => ({ text: 'unknown' }))
  return text
}

const MOST_SENTENCE_CHARACTERS = 1_000

const sentenceOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, MOST_SENTENCE_CHARACTERS)

const ENDING_STATUSES = [402, 403, 429]

/** A limit of the caller. The 429 of a provider is one for the model. */
const refusalIn = (error: unknown): GatewayError | null =>
  error instanceof GatewayError &&
  ENDING_STATUSES.includes(error.status) &&
  error.metadata?.provider_name === undefined
    ? error
    : null

/** Aborts a call after its time, or when the request is cancelled. A tool that does not heed the signal is left alone. */
function clockOf(callMs: number, outer: AbortSignal, ticker: Ticker) {
  const { promise: over, reject } = Promise.withResolvers<never>()
  over.catch(() => undefined)
  const controller = new AbortController()
  const abort = (reason: unknown): void => {
    controller.abort(reason)
    reject(reason)
  }
  const leave = (): void => abort(outer.reason)
  if (outer.aborted) leave()
  outer.addEventListener('abort', leave, { once: true })
  const stopTicker = ticker.after(callMs, () =>
    abort(new Error(`it took longer than ${Math.round(callMs / 1000)} seconds`)),
  )
  return {
    signal: controller.signal,
    over,
    stop(): void {
      stopTicker()
      outer.removeEventListener('abort', leave)
    },
  }
}
