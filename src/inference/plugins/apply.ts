import type { JsonObject } from '../../core/events.ts'
import type { InferenceRequest } from '../../core/request.ts'
import { keepBody } from '../../http/body-budget.ts'
import type { PluginContext } from '../../plugins/plugin.ts'
import { beginConversation } from '../conversation/run.ts'
import { filterText } from '../filters/input/apply.ts'
import type { Opening, RunDeps } from '../generation.ts'
import { contentAt, countedContent } from '../request/url-contents.ts'
import { placeOf } from '../request/user-urls.ts'
import { facilitiesOf } from '../steps/facilities.ts'
import { type Family, newStepTotals } from '../steps/family.ts'
import { callerClosed } from '../upstream/failure.ts'
import type { Active } from './enabled.ts'

/** An opening with the id of its generation, so that the steps of its plugins can name it. */
type Asked = Omit<Opening<InferenceRequest>, 'steps' | 'plugins'> & { readonly id: string }

/**
 * The opening as these plugins leave it. Rejects with the caller's error. The body keeps its memory, also after an early
 * reply; after a rejection, here or later, `freeBody` gives it back.
 */
export async function withPlugins<Opened extends Asked>(
  opening: Opened,
  active: readonly Active[],
  deps: RunDeps,
): Promise<Opened> {
  keepBody(opening.incoming.body)
  const stages: JsonObject[] = []
  const findings: JsonObject[] = []
  const family: Family = { ...opening, steps: newStepTotals() }
  const fetchContent = countedContent(deps.fetchContent, opening.incoming.body)
  const contextOf = (request: InferenceRequest, signal: AbortSignal): PluginContext => ({
    ...facilitiesOf({ ...family, request, signal }, deps, beginConversation),
    caller: family.caller,
    snapshot: family.snapshot,
    web: deps.web,
    measured: deps.measurements.of,
    readDocument: (file) => deps.documents.read(file, signal, family.caller.workspace.id),
    ocrModel: deps.fileModels.ocr,
    fetchContent: (url, fetching) => contentAt(url, placeOf(url, request.body), fetchContent, fetching),
    async filtered(text) {
      const { text: clean, pipeline } = await filterText(text, family.caller)
      findings.push(...pipeline)
      return clean
    },
    request,
    signal,
    now: deps.now,
    report: (stage) => stages.push(stage),
  })
  let request: InferenceRequest = { ...opening.request, plugins: active.map(({ options }) => options) }
  for (const { plugin, options } of active) {
    request = (await plugin.request?.(request, options, contextOf(request, opening.signal))) ?? request
    if (opening.signal.aborted) throw callerClosed(opening.signal.reason)
  }
  if (findings.length > 0) request = { ...request, pipeline: [...(request.pipeline ?? []), ...findings] }
  const { steps } = family
  return { ...opening, request, steps, plugins: { active, stages, contextOf } }
}
