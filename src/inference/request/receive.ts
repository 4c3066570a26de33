import type { JsonObject } from '../../core/events.ts'
import { asText } from '../../core/json.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import { traceNamed } from '../../core/trace-context.ts'
import { turnAfterLong } from '../../core/turn.ts'
import type { UploadedFiles } from '../../core/uploaded-file.ts'
import type { Ingress } from '../../dialects/dialect.ts'
import { ingresses } from '../../dialects/index.ts'
import { INFERENCE_BODY_LIMIT, readJsonBody } from '../../http/body.ts'
import { authenticate, originOf } from '../../http/caller.ts'
import { type Incoming, keepOpen } from '../../http/incoming.ts'
import { recordsContents } from '../content-log/record.ts'
import type { ConversationOpening } from '../conversation/run.ts'
import { withFilters } from '../filters/input/apply.ts'
import type { RunDeps } from '../generation.ts'
import { cacheOptionsOf } from '../response-cache/cache-options.ts'
import { wantsRoutingMetadata } from '../routing/metadata.ts'
import { answer } from './answer.ts'
import { withCarried } from './carried.ts'
import { withFiles } from './file-ids.ts'
import { withPreset } from './preset.ts'
import { checkUrls, type UserUrlDeps } from './user-names.ts'

export interface InferenceRouteDeps extends UserUrlDeps {
  snapshot: { current(): Snapshot }
  now(): number
  uploads: UploadedFiles
  run: RunDeps
}

export type Conversation = 'chat' | 'messages' | 'gemini'

/** Converts the received body to the form that the dialect parses. */
export type Prepare = (sent: JsonObject) => JsonObject

/** Authenticates, reads and parses a conversation: the first step of its routes. */
export async function receive(
  incoming: Incoming,
  dialect: Conversation,
  deps: InferenceRouteDeps,
  prepare: Prepare = (sent) => sent,
) {
  const { request } = incoming
  const startedAt = deps.now()
  const snapshot = deps.snapshot.current()
  const caller = authenticate(incoming, snapshot, 'inference', startedAt)
  const sent = prepare(await readJsonBody(incoming, INFERENCE_BODY_LIMIT))
  const readAt = performance.now()
  const { body, presetId } = withPreset(sent, dialect, caller, snapshot)
  incoming.model = asText(body['model']) ?? ''
  const filling = withFiles(body, dialect, caller, deps.uploads, incoming.body)
  const expanded = filling instanceof Promise ? await filling : filling
  const wantsMetadata = wantsRoutingMetadata(request.headers)
  const filtering = withFilters(expanded, caller, wantsMetadata)
  const { body: clean, pipeline } = filtering instanceof Promise ? await filtering : filtering
  const carrier = deps.run.carrierOf(caller.workspace.id)
  const opened = withCarried(clean, dialect, carrier)
  const inference = ingresses[dialect].parse(opened.body, request.headers)
  inference.carrier = carrier
  incoming.trace = traceNamed(incoming.trace, inference.trace?.['trace_id'])
  if (opened.unreadable.length > 0) inference.unreadable = opened.unreadable
  if (pipeline) inference.pipeline = pipeline
  if (presetId !== null) inference.presetId = presetId
  // The content log contains file ids instead of files.
  if (expanded !== body && recordsContents(caller.workspace))
    inference.unexpanded = (await withFilters(body, caller, false)).body
  const turn = turnAfterLong(readAt)
  if (turn) await turn
  const translatedAt = performance.now()
  const checking = checkUrls(inference, caller, snapshot, deps)
  if (checking) await checking
  const turnAgain = turnAfterLong(translatedAt)
  if (turnAgain) await turnAgain
  keepOpen(incoming)
  return {
    snapshot,
    caller,
    request: inference,
    wantsMetadata,
    signal: request.signal,
    startedAt,
  }
}

/** Serves a conversation of any dialect: authenticate, read, parse, run. */
export async function infer(
  incoming: Incoming,
  dialect: Conversation,
  deps: InferenceRouteDeps,
  options: { prepare?: Prepare; ingress?: Ingress } = {},
): Promise<Response> {
  const received = await receive(incoming, dialect, deps, options.prepare)
  const { snapshot, caller, request, wantsMetadata, signal, startedAt } = received
  const opening: ConversationOpening = {
    incoming,
    snapshot,
    caller,
    origin: originOf(incoming),
    request,
    wantsMetadata,
    ingress: options.ingress ?? ingresses[dialect],
    recorder: undefined,
    cache: cacheOptionsOf(incoming.request.headers, caller),
    signal,
    startedAt,
  }
  return answer(opening, deps.run)
}
