import type { JsonObject } from '../../core/events.ts'
import { newGenerationId } from '../../core/ids.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { PluginContext } from '../../plugins/plugin.ts'
import type { Opening, RunDeps } from '../generation.ts'
import { contentAt, countedContent } from '../request/url-contents.ts'
import { placeOf } from '../request/user-urls.ts'
import { facilitiesOf } from '../steps/facilities.ts'
import { type Family, newStepTotals } from '../steps/family.ts'
import { type Active, enabledPlugins } from './enabled.ts'

type Asked = Omit<Opening<InferenceRequest>, 'id' | 'steps' | 'plugins'>

/**
 * The opening as its plugins leave it; the same one without plugins, at no cost. Throws the caller's error. The
 * generation has its id already, so that its steps can name it.
 */
export function withPlugins<Opened extends Asked>(opening: Opened, deps: RunDeps): Opened | Promise<Opened> {
  const active = enabledPlugins(opening.request, opening.caller, deps.plugins)
  return active.length === 0 ? opening : applied(opening, active, deps)
}

async function applied<Opened extends Asked>(
  opening: Opened,
  active: readonly Active[],
  deps: RunDeps,
): Promise<Opened> {
  const stages: JsonObject[] = []
  const family: Family = { ...opening, id: newGenerationId(), steps: newStepTotals() }
  const fetchContent = countedContent(deps.fetchContent, opening.incoming.body)
  const contextOf = (request: InferenceRequest, signal: AbortSignal): PluginContext => ({
    ...facilitiesOf({ ...family, request, signal }, deps),
    caller: family.caller,
    snapshot: family.snapshot,
    web: deps.web,
    measured: deps.measurements.of,
    documents: deps.documents,
    fetchContent: (url, fetching) => contentAt(url, placeOf(url, request.body), fetchContent, fetching),
    request,
    signal,
    now: deps.now,
    report: (stage) => stages.push(stage),
  })
  let request: InferenceRequest = { ...opening.request, plugins: active.map(({ options }) => options) }
  for (const { plugin, options } of active)
    request = (await plugin.request?.(request, options, contextOf(request, opening.signal))) ?? request
  const { id, steps } = family
  return { ...opening, request, id, steps, plugins: { active, stages, contextOf } }
}
