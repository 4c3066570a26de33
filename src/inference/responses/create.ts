import type { Caller } from '../../core/caller.ts'
import { retainsNothing } from '../../core/guardrail.ts'
import { newGenerationId } from '../../core/ids.ts'
import { asText } from '../../core/json.ts'
import type { RememberedItems } from '../../core/remembered-items.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import type { ResponseStore } from '../../core/stored-response.ts'
import { traceNamed } from '../../core/trace-context.ts'
import { turnAfterLong } from '../../core/turn.ts'
import type { UploadedFiles } from '../../core/uploaded-file.ts'
import { ingresses } from '../../dialects/index.ts'
import { INFERENCE_BODY_LIMIT, readJsonBody } from '../../http/body.ts'
import { authenticate, originOf } from '../../http/caller.ts'
import { type Incoming, keepOpen } from '../../http/incoming.ts'
import { type FilteredBody, withFilters } from '../filters/input/apply.ts'
import type { Opening, RunDeps } from '../generation.ts'
import { enabledPlugins } from '../plugins/enabled.ts'
import type { ResponseRecorder } from '../reply/recorder.ts'
import { answer, plugged } from '../request/answer.ts'
import { withCarried } from '../request/carried.ts'
import { withFiles } from '../request/file-ids.ts'
import { withPreset } from '../request/preset.ts'
import { checkUrls, type UserUrlDeps } from '../request/user-names.ts'
import { cacheOptionsOf } from '../response-cache/cache-options.ts'
import { withDelegation } from '../routing/delegation.ts'
import { wantsRoutingMetadata } from '../routing/metadata.ts'
import { responseTrace } from '../trace-headers.ts'
import { mayRetain } from '../upstream/context-cache/apply.ts'
import type { BackgroundRun, BackgroundRuns } from './background.ts'
import { follow } from './follow.ts'
import { type ResolvedInput, resolveInput, withCallerPlaces } from './input.ts'
import { outputItems, withoutLogprobs } from './items.ts'
import { foregroundRecorder, type StoreContext } from './recorder.ts'
import { type StateOptions, stateOptionsOf } from './state.ts'

/** The dependencies of the Responses routes. */
export interface ResponsesDeps extends UserUrlDeps {
  snapshot: { current(): Snapshot }
  now(): number
  uploads: UploadedFiles
  run: RunDeps
  responses: {
    store: ResponseStore
    background: BackgroundRuns
    /** How long a response is stored after its last use. */
    retentionMs: number
    /** Items of responses that are not stored; null if that is disabled. */
    remembered: RememberedItems | null
  }
}

/** A parsed request, with the turns and items that it refers to. */
export interface Received {
  readonly startedAt: number
  readonly caller: Caller
  readonly state: StateOptions
  readonly resolved: ResolvedInput
  readonly opening: Omit<Opening<InferenceRequest>, 'signal' | 'cache'>
}

/** Authenticates, reads, resolves references and parses: the first step of the routes that call a model. */
export async function receive(incoming: Incoming, deps: ResponsesDeps): Promise<Received> {
  const { request } = incoming
  const startedAt = deps.now()
  const snapshot = deps.snapshot.current()
  const caller = authenticate(incoming, snapshot, 'inference', startedAt)
  const sent = await readJsonBody(incoming, INFERENCE_BODY_LIMIT)
  const readAt = performance.now()
  const { body, presetId } = withPreset(sent, 'responses', caller, snapshot)
  incoming.model = asText(body['model']) ?? ''
  const { store, remembered } = deps.responses
  // Filtered before anything is stored.
  const filtered = await withFilters(body, caller, wantsRoutingMetadata(request.headers))
  const state = stateOptionsOf(filtered.body)
  const resolved = await resolveInput(filtered.body, state, caller.workspace.id, { store, remembered })
  const inference = await parsed(resolved, filtered, caller, incoming, deps)
  if (presetId !== null) inference.presetId = presetId
  incoming.trace = traceNamed(incoming.trace, inference.trace?.['trace_id'])
  await turnAfterLong(readAt)
  const translatedAt = performance.now()
  const checking = checkUrls(inference, caller, snapshot, deps)
  if (checking) await checking
  await turnAfterLong(translatedAt)
  const opening = {
    snapshot,
    caller,
    incoming,
    origin: originOf(incoming),
    request: inference,
    wantsMetadata: wantsRoutingMetadata(request.headers),
    startedAt,
  }
  return { startedAt, caller, state, resolved, opening }
}

/** POST /responses. */
export async function createResponse(incoming: Incoming, deps: ResponsesDeps): Promise<Response> {
  const { request } = incoming
  const { startedAt, caller, state, resolved, opening } = await receive(incoming, deps)
  const { store, retentionMs, remembered } = deps.responses
  const onLost: StoreContext['onLost'] = (error, id) => deps.run.onLost(error, id, incoming.trace)
  const storing: StoreContext = { store, caller, state, resolved, startedAt, retentionMs, onLost }
  keepOpen(incoming)
  if (state.background)
    return startedResponse(await startBackground(storing, opening, deps, request.signal), opening, deps)
  const recorder = state.store
    ? foregroundRecorder(storing)
    : rememberingRecorder(opening.request, caller, remembered)
  // Never cached with a previous response: its turns are input, and the reply contains its id.
  const cache = state.previousResponseId === null ? cacheOptionsOf(request.headers, caller) : undefined
  const { signal } = request
  return answer({ ...opening, ingress: ingresses.responses, recorder, cache, signal }, deps.run)
}

function startBackground(
  storing: StoreContext,
  opening: Received['opening'],
  { run, responses: { background } }: ResponsesDeps,
  signal: AbortSignal,
): Promise<BackgroundRun> {
  const start = (changed: Received['opening']) =>
    background.start(storing, { ...changed, ingress: ingresses.responses }, run)
  const delegating = withDelegation(opening)
  const active = enabledPlugins(delegating.request, opening.caller, run.plugins)
  if (active.length === 0) return start(delegating)
  return plugged({ ...delegating, signal, id: newGenerationId() }, active, run, start)
}

/** Inserts files, also of earlier turns: stored responses contain file ids instead of files. */
async function parsed(
  resolved: ResolvedInput,
  filtered: FilteredBody,
  caller: Caller,
  { request: { headers }, body: lease }: Incoming,
  { uploads, run: { carrierOf } }: ResponsesDeps,
): Promise<InferenceRequest> {
  try {
    const whole = await withFiles(resolved.body, 'responses', caller, uploads, lease)
    // Earlier turns and files have not been filtered yet.
    const isSeen = whole['input'] === filtered.body['input']
    const again = isSeen ? { body: whole } : await withFilters(whole, caller, wantsRoutingMetadata(headers))
    const carrier = carrierOf(caller.workspace.id)
    const { body, unreadable } = withCarried(again.body, 'responses', carrier)
    const inference = ingresses.responses.parse(body, headers)
    inference.carrier = carrier
    if (unreadable.length > 0) inference.unreadable = unreadable
    // Earlier turns and files are not logged again with each turn.
    if (!isSeen) inference.unexpanded = filtered.body
    const pipeline = [...(filtered.pipeline ?? []), ...(again.pipeline ?? [])]
    if (pipeline.length > 0) inference.pipeline = pipeline
    return inference
  } catch (error) {
    throw withCallerPlaces(error, resolved)
  }
}

/** Returns the queued response, or streams its events. The run continues after a client disconnect. */
function startedResponse(
  { response, reply, events }: BackgroundRun,
  opening: Received['opening'],
  deps: ResponsesDeps,
): Response {
  const { generationId } = response
  const headers = {
    'cache-control': 'no-store',
    'x-generation-id': generationId,
    traceresponse: responseTrace(opening, generationId),
  }
  if (events === null) return Response.json(reply, { headers })
  const { ticker } = deps.run
  return follow({
    source: events,
    startingAfter: -1,
    ticker,
    signal: opening.incoming.request.signal,
    headers,
  })
}

/**
 * Remembers the items of a reply whose request does not set `store`: clients that assume storage send `item_reference` in
 * their next request (the AI SDK's default for OpenAI, 2026). Undefined if `store` is set, or if the caller requires zero
 * data retention.
 */
function rememberingRecorder(
  { body, preferences }: Pick<InferenceRequest, 'body' | 'preferences'>,
  { key, workspace }: Caller,
  remembered: RememberedItems | null,
): ResponseRecorder | undefined {
  const isStoreUnset = body['store'] === undefined || body['store'] === null
  if (remembered === null || !isStoreUnset || retainsNothing(key) || !mayRetain(preferences)) return undefined
  return {
    begin: async () => undefined,
    async end(ending, reply) {
      if (ending === 'complete' && reply !== null)
        remembered.add(workspace.id, outputItems(reply).map(withoutLogprobs))
    },
  }
}
