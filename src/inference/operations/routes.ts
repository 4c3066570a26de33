import type { JsonObject } from '../../core/events.ts'
import { asText } from '../../core/json.ts'
import type { ImagesRequest, SpeechRequest } from '../../core/operation.ts'
import type { RoutedRequest } from '../../core/request.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import { traceNamed } from '../../core/trace-context.ts'
import { imagesIngress } from '../../dialects/operations/images.ts'
import { parseSpeech } from '../../dialects/operations/speech.ts'
import { deferLine } from '../../http/access-log.ts'
import { INFERENCE_BODY_LIMIT, readJsonBody } from '../../http/body.ts'
import { authenticate, originOf } from '../../http/caller.ts'
import { isForm, readForm } from '../../http/form.ts'
import { type Incoming, keepOpen, readsBody, routes } from '../../http/incoming.ts'
import { withFilters } from '../filters/input/apply.ts'
import type { Opening, RunDeps } from '../generation.ts'
import { checkUrls, type UserUrlDeps } from '../request/user-names.ts'
import { cacheOptionsOf } from '../response-cache/cache-options.ts'
import { wantsRoutingMetadata } from '../routing/metadata.ts'
import {
  embeddingsOperation,
  imageEditsOperation,
  imageGenerationsOperation,
  imagesOperation,
  moderationsOperation,
  rerankOperation,
  speechOperation,
  transcriptionOperation,
} from './documents.ts'
import { readEditBody } from './edit-body.ts'
import { embeddings } from './embeddings.ts'
import { runImages } from './images.ts'
import { moderations } from './moderations.ts'
import { rerank } from './rerank.ts'
import { runOperation } from './run.ts'
import { runSpeech } from './speech.ts'
import type { Task } from './task.ts'
import { transcription } from './transcription.ts'
import { readTranscriptionForm } from './transcription-form.ts'

export interface OperationRouteDeps extends UserUrlDeps {
  snapshot: { current(): Snapshot }
  now(): number
  run: RunDeps
}

/** The inference routes other than conversations. Each reads its body after authenticating the caller. */
export const operationRoutes = (deps: OperationRouteDeps) =>
  routes()
    .post(
      '/embeddings',
      ({ incoming }) => operate(incoming, embeddings, deps),
      readsBody(embeddingsOperation),
    )
    .post('/rerank', ({ incoming }) => operate(incoming, rerank, deps), readsBody(rerankOperation))
    .post(
      '/moderations',
      ({ incoming }) => operate(incoming, moderations, deps),
      readsBody(moderationsOperation),
    )
    .post('/images', ({ incoming }) => images(incoming, readInferenceBody, deps), readsBody(imagesOperation))
    .post(
      '/images/generations',
      ({ incoming }) => images(incoming, readInferenceBody, deps),
      readsBody(imageGenerationsOperation),
    )
    .post(
      '/images/edits',
      ({ incoming }) => images(incoming, readEditBody, deps, true),
      readsBody(imageEditsOperation),
    )
    .post('/audio/speech', ({ incoming }) => speech(incoming, deps), readsBody(speechOperation))
    .post(
      '/audio/transcriptions',
      ({ incoming }) => transcribe(incoming, deps),
      readsBody(transcriptionOperation),
    )

/** Images, streamed or not. */
const images = (
  incoming: Incoming,
  read: typeof readInferenceBody,
  deps: OperationRouteDeps,
  isEdit = false,
): Promise<Response> => {
  const parse: Parse<JsonObject, ImagesRequest> = async (body, headers, filter) => ({
    ...imagesIngress.parse(await filter(body), headers),
    isEdit,
  })
  return open(incoming, deps, read, parse, (opening) => runImages(opening, deps.run))
}

const speech = (incoming: Incoming, deps: OperationRouteDeps): Promise<Response> =>
  open(incoming, deps, readInferenceBody, parsedSpeech, (opening) => runSpeech(opening, deps.run))

const parsedSpeech: Parse<JsonObject, SpeechRequest> = async (body, headers, filter) =>
  parseSpeech(await filter(body), headers)

/** A recording in JSON or in a form. */
const transcribe = (incoming: Incoming, deps: OperationRouteDeps): Promise<Response> =>
  isForm(incoming.request.headers)
    ? open(
        incoming,
        deps,
        (form) => readForm(form, AUDIO_LIMIT_BYTES),
        readTranscriptionForm,
        (opening) => runOperation(opening, transcription, deps.run),
      )
    : operate(incoming, transcription, deps)

/** The same as for every uploaded file. */
const AUDIO_LIMIT_BYTES = 100_000_000

/** Serves a task with JSON body and reply. `prepare` converts the body to the form that the task parses. */
export const operate = <Request extends RoutedRequest, Result>(
  incoming: Incoming,
  task: Task<Request, Result>,
  deps: OperationRouteDeps,
  prepare: (sent: JsonObject) => JsonObject = (sent) => sent,
): Promise<Response> =>
  open(
    incoming,
    deps,
    async (request) => prepare(await readInferenceBody(request)),
    async (body, headers, filter) => task.ingress.parse(await filter(body), headers),
    (opening) => {
      const cache = task.isRepeatable ? cacheOptionsOf(incoming.request.headers, opening.caller) : undefined
      return runOperation({ ...opening, cache }, task, deps.run)
    },
  )

const readInferenceBody = (incoming: Incoming): Promise<JsonObject> =>
  readJsonBody(incoming, INFERENCE_BODY_LIMIT)

/** Parses a body. `filter` applies the key's content filters to it. */
type Parse<Body, Request> = (
  body: Body,
  headers: Headers,
  filter: (body: JsonObject) => Promise<JsonObject>,
) => Promise<Request>

/** Serves an operation of any kind: authenticate, read, parse, run. */
async function open<Body, Request extends RoutedRequest>(
  incoming: Incoming,
  deps: OperationRouteDeps,
  read: (incoming: Incoming) => Promise<Body>,
  parse: Parse<Body, Request>,
  run: (opening: Opening<Request>) => Promise<Response>,
): Promise<Response> {
  const { request } = incoming
  const startedAt = deps.now()
  const snapshot = deps.snapshot.current()
  const caller = authenticate(incoming, snapshot, 'inference', startedAt)
  const wantsMetadata = wantsRoutingMetadata(request.headers)
  let pipeline: JsonObject[] | undefined
  const parsed = await parse(await read(incoming), request.headers, async (body) => {
    incoming.model = asText(body['model']) ?? ''
    const filtered = await withFilters(body, caller, wantsMetadata)
    pipeline = filtered.pipeline
    return filtered.body
  })
  if (pipeline) parsed.pipeline = pipeline
  incoming.trace = traceNamed(incoming.trace, parsed.trace?.['trace_id'])
  const checking = checkUrls(parsed, caller, snapshot, deps)
  if (checking) await checking
  keepOpen(incoming)
  const response = await run({
    snapshot,
    caller,
    incoming,
    origin: originOf(incoming),
    request: parsed,
    wantsMetadata,
    signal: request.signal,
    startedAt,
  })
  deferLine(incoming)
  return response
}
