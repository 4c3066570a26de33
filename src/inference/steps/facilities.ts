import type { Asked, Asking, Drawn, Facilities, ServedKind } from '../../core/facilities.ts'
import { defined, type JsonObject, textOf } from '../../core/json.ts'
import type { InferenceRequest, RoutedRequest } from '../../core/request.ts'
import { imagesIngress } from '../../dialects/operations/images.ts'
import { runToEnd } from '../conversation/to-end.ts'
import { filterText } from '../filters/input/apply.ts'
import type { Conversation, Opening, RunDeps } from '../generation.ts'
import { embeddings } from '../operations/embeddings.ts'
import { drawImages } from '../operations/images.ts'
import { moderations } from '../operations/moderations.ts'
import { ocr } from '../operations/ocr.ts'
import { runTask } from '../operations/run.ts'
import type { Task } from '../operations/task.ts'
import { end } from '../pipeline.ts'
import { fail, settle } from '../settle.ts'
import { type Family, stepOpening } from './family.ts'
import { pay } from './pay.ts'

/** `beginConversation`, which itself needs facilities: those of the tools of its request. */
type Begin = (opening: Opening<InferenceRequest>, deps: RunDeps) => Conversation | Promise<Conversation>

/** What plugins and tools can have done for the generation of this family. */
export const facilitiesOf = (family: Family, deps: RunDeps, begin: Begin): Facilities => ({
  ask: (request, asking) => ask(family, request, asking, deps, begin),
  draw: (body, asking) => draw(family, body, asking, deps),
  serve: (kind, body, asking) => served[kind]({ family, body, asking, deps }),
  pay: (payment, run) => pay(family, payment, run, deps),
})

async function ask(
  family: Family,
  request: InferenceRequest,
  asking: Asking,
  deps: RunDeps,
  begin: Begin,
): Promise<Asked> {
  const opening = { ...openingOf(family, asking, deps), request: underPolicy(request, family) }
  const generation = await begin(opening, deps)
  try {
    const { dispatched, result } = await runToEnd(generation)
    const closing = await settle(generation, 'complete')
    const { model, provider } = dispatched.attempt
    return { id: generation.id, model: model.id, providerName: provider.name, result, closing }
  } catch (error) {
    throw await fail(generation, error)
  } finally {
    end(generation)
  }
}

async function draw(family: Family, body: JsonObject, asking: Asking, deps: RunDeps): Promise<Drawn> {
  const { text: prompt, pipeline } = await filterText(textOf(body['prompt']), family.caller).catch(() => {
    throw new Error('its prompt was withheld by the content filters of a guardrail')
  })
  const parsed = imagesIngress.parse({ ...body, prompt }, new Headers())
  const request = { ...parsed, stream: false, ...(pipeline.length > 0 && { pipeline }) }
  const opening = { ...openingOf(family, asking, deps), request: underPolicy(request, family) }
  const { images, attempt } = await drawImages(opening, deps)
  return { model: attempt.model.id, images }
}

interface Serving {
  readonly family: Family
  readonly body: JsonObject
  readonly asking: Asking
  readonly deps: RunDeps
}

const served: Readonly<Record<ServedKind, (serving: Serving) => Promise<JsonObject>>> = {
  moderation: (serving) => serve(moderations, serving),
  ocr: (serving) => serve(ocr, serving),
  embeddings: (serving) => serve(ownEmbeddings, serving),
}

/** The use of the vectors is sent to providers whose API is known to have a word for it: others may refuse the field. */
const ownEmbeddings: typeof embeddings = {
  ...embeddings,
  ingress: {
    ...embeddings.ingress,
    parse(input, headers) {
      const request = embeddings.ingress.parse(input, headers)
      const { input_type: _, ...body } = request.body
      return { ...request, body }
    },
  },
}

async function serve<Request extends RoutedRequest, Result>(
  task: Task<Request, Result>,
  { family, body, asking, deps }: Serving,
): Promise<JsonObject> {
  const request = underPolicy(task.ingress.parse(body, new Headers()), family)
  const answered = await runTask({ ...openingOf(family, asking, deps), request }, task, deps)
  return answered.body
}

function openingOf(family: Family, { kind, signal }: Asking, deps: RunDeps) {
  const opening = stepOpening(family, kind, deps.now())
  return {
    ...opening,
    signal: signal === undefined ? opening.signal : AbortSignal.any([opening.signal, signal]),
  }
}

/** The caller's demands on providers that see its data hold for every step. */
function underPolicy<Request extends RoutedRequest>(
  request: Request,
  { request: { preferences } }: Family,
): Request {
  const { dataCollection, zdr, enforceDistillableText } = preferences
  const policy = defined({ dataCollection, zdr, enforceDistillableText })
  return { ...request, preferences: { ...request.preferences, ...policy } }
}
