import type { Asked, Asking, Facilities, Moderated } from '../../core/facilities.ts'
import { defined, objectsIn, textOf } from '../../core/json.ts'
import type { InferenceRequest, RoutedRequest } from '../../core/request.ts'
import { beginConversation, runToEnd } from '../conversation/run.ts'
import type { RunDeps } from '../generation.ts'
import { moderations } from '../operations/moderations.ts'
import { runTask } from '../operations/run.ts'
import { end } from '../pipeline.ts'
import { fail, settle } from '../settle.ts'
import { type Family, stepOpening } from './family.ts'
import { pay } from './pay.ts'

/** What plugins and tools can have done for the generation of this family. */
export const facilitiesOf = (family: Family, deps: RunDeps): Facilities => ({
  ask: (request, asking) => ask(family, request, asking, deps),
  moderate: (models, texts, asking) => moderate(family, models, texts, asking, deps),
  pay: (payment, run) => pay(family, payment, run, deps),
})

async function ask(family: Family, request: InferenceRequest, asking: Asking, deps: RunDeps): Promise<Asked> {
  const opening = { ...openingOf(family, asking, deps), request: underPolicy(request, family) }
  const generation = await beginConversation(opening, deps)
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

async function moderate(
  family: Family,
  models: readonly string[],
  texts: readonly string[],
  asking: Asking,
  deps: RunDeps,
): Promise<Moderated> {
  const asked = moderations.ingress.parse({ models, input: texts }, new Headers())
  const opening = { ...openingOf(family, asking, deps), request: underPolicy(asked, family) }
  const { body } = await runTask(opening, moderations, deps)
  return {
    model: textOf(body['model']),
    providerName: textOf(body['provider']),
    results: objectsIn(body['results']),
  }
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
