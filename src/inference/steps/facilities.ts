import type { Asked, Asking, Facilities } from '../../core/facilities.ts'
import { defined } from '../../core/json.ts'
import type { InferenceRequest, ProviderPreferences } from '../../core/request.ts'
import { beginConversation, runToEnd } from '../conversation/run.ts'
import type { RunDeps } from '../generation.ts'
import { end } from '../pipeline.ts'
import { fail, settle } from '../settle.ts'
import { type Family, stepOpening } from './family.ts'
import { pay } from './pay.ts'

/** What plugins and tools can have done for the generation of this family. */
export const facilitiesOf = (family: Family, deps: RunDeps): Facilities => ({
  ask: (request, asking) => ask(family, request, asking, deps),
  pay: (payment, run) => pay(family, payment, run, deps),
})

async function ask(
  family: Family,
  request: InferenceRequest,
  { kind, signal }: Asking,
  deps: RunDeps,
): Promise<Asked> {
  const opening = stepOpening(family, kind, deps.now())
  const either = signal === undefined ? opening.signal : AbortSignal.any([opening.signal, signal])
  const step = {
    ...request,
    preferences: { ...request.preferences, ...policyOf(family.request.preferences) },
  }
  const generation = await beginConversation({ ...opening, request: step, signal: either }, deps)
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

/** What the caller demands of whoever sees its data holds for every step. */
const policyOf = ({ dataCollection, zdr, enforceDistillableText }: ProviderPreferences) =>
  defined({ dataCollection, zdr, enforceDistillableText })
