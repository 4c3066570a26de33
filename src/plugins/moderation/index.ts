import { badRequest, GatewayError, isCallersLimit } from '../../core/errors.ts'
import type { FrameBatch, InferenceFrame, InferenceFrames, JsonObject } from '../../core/events.ts'
import { fieldsOf, objectsIn, textOf } from '../../core/json.ts'
import type { PluginOptions } from '../../core/plugin-options.ts'
import type { Plugin, PluginContext } from '../plugin.ts'
import { blockedIn } from './blocked.ts'
import { byRubric } from './rubric.ts'
import { excerptOf, type Judged, outputOf, textsOf } from './texts.ts'

interface Options extends PluginOptions {
  readonly model?: string | null
  readonly rubric?: string | null
  readonly blocked?: readonly string[] | null
  /** Default `input`. */
  readonly apply_to?: 'input' | 'output' | 'both' | null
  /** What happens to a text that could not be judged; default `block`. */
  readonly on_error?: 'block' | 'allow' | null
}

/** What was found in a text. */
interface Flag {
  readonly reasons: readonly string[]
  readonly text: string
  readonly providerName: string
  readonly model: string
}

/** Refuses a request or a reply that a moderation model, a model with a rubric, or the operator's list flags. */
export const moderation: Plugin<Options> = {
  id: 'moderation',
  async request(request, options, context) {
    mustBeConfigured(options)
    if (options.apply_to === 'output') return request
    await refuseFlagged(textsOf(request.messages), 'input', options, context)
    return request
  },
  frames: (frames, options, context) =>
    options.apply_to === 'output' || options.apply_to === 'both' ? judged(frames, options, context) : frames,
}

function mustBeConfigured({ model, blocked, rubric }: Options): void {
  if (rubric && !model)
    throw badRequest('needs `model`: the model that reads the rubric', 'plugins.moderation.rubric')
  if (model || blocked?.length) return
  throw badRequest(
    'moderation has neither `model` nor `blocked`. Set one of them here, or for all requests in `plugins` of the workspace or of a guardrail',
    'plugins',
  )
}

/** The longest reply that is held back. */
const MOST_CHARACTERS = 4_000_000

/** Holds the reply back until it is judged. */
async function* judged(
  frames: InferenceFrames,
  options: Options,
  context: PluginContext,
): AsyncGenerator<FrameBatch> {
  const held: InferenceFrame[] = []
  let text = ''
  for await (const batch of frames) {
    for (const frame of batch) {
      held.push(frame)
      text += outputOf(frame)
    }
    if (text.length > MOST_CHARACTERS)
      throw new GatewayError(502, `moderation: the reply is longer than ${MOST_CHARACTERS} characters`)
  }
  const texts = text === '' ? [] : [text]
  await refuseFlagged({ texts, unjudged: [] }, 'output', options, context)
  if (held.length > 0) yield held
}

async function refuseFlagged(
  { texts, unjudged }: Judged,
  side: 'input' | 'output',
  options: Options,
  context: PluginContext,
): Promise<void> {
  const stage = (summary: string, data: Record<string, unknown> = {}): void =>
    context.report({
      type: 'guardrail',
      name: 'moderation',
      summary,
      data: { apply_to: side, ...data, ...(unjudged.length > 0 && { not_judged: unjudged }) },
    })
  const flag = await flagIn(texts, options, context).catch((error: unknown) => {
    if (isCallersLimit(error) || context.signal.aborted) throw error
    const reason = error instanceof Error ? error.message : String(error)
    if (options.on_error !== 'allow') throw notJudged(side, reason, error)
    stage(`not judged, and let through: ${reason}`)
    return undefined
  })
  if (flag === undefined) return
  if (flag !== null) throw flagged(flag, side)
  stage('nothing was flagged')
}

const notJudged = (side: string, reason: string, cause: unknown): GatewayError =>
  new GatewayError(
    503,
    `moderation: the ${side} could not be judged and is refused (\`on_error\` is "block"): ${reason}`,
    { cause, headers: { 'retry-after': '5' }, refusal: { reason: 'filter', gate: 'moderation' } },
  )

const flagged = ({ reasons, text, providerName, model }: Flag, side: string): GatewayError =>
  new GatewayError(403, `The ${side} was flagged by moderation: ${reasons.join(', ')}`, {
    metadata: {
      error_type: 'content_policy_violation',
      reasons: [...reasons],
      // What was flagged in a reply is not shown to its caller.
      ...(side === 'input' && { flagged_input: excerptOf(text) }),
      provider_name: providerName,
      model_slug: model,
    },
    refusal: { reason: 'filter', gate: 'moderation' },
  })

/** Null: nothing is flagged. The list first: it costs nothing. */
async function flagIn(
  texts: readonly string[],
  { model, rubric, blocked }: Options,
  context: PluginContext,
): Promise<Flag | null> {
  const listed = blocked?.length ? await blockedIn(texts, blocked) : null
  if (listed !== null) return { ...listed, providerName: 'sluice', model: 'blocked' }
  if (!model || texts.length === 0) return null
  return rubric ? byRubric(texts, rubric, model, context) : byModel(texts, model, context)
}

async function byModel(
  texts: readonly string[],
  model: string,
  { serve }: PluginContext,
): Promise<Flag | null> {
  const reply = await serve('moderation', { model, input: texts }, { kind: 'moderation' })
  const [results, providerName] = [objectsIn(reply['results']), textOf(reply['provider'])]
  if (results.length === 0) throw new Error(`${providerName} judged nothing`)
  const at = results.findIndex(isFlagged)
  const result = results[at]
  if (result === undefined) return null
  const reasons = reasonsOf(result)
  return {
    reasons: reasons.length > 0 ? reasons : ['flagged'],
    text: texts[at] ?? texts[0] ?? '',
    providerName,
    model: textOf(reply['model']),
  }
}

const isFlagged = (result: JsonObject): boolean =>
  result['flagged'] === true || (result['flagged'] === undefined && reasonsOf(result).length > 0)

/** The categories that the model found; Mistral reports them without `flagged`. */
const reasonsOf = ({ categories }: JsonObject): string[] => {
  const found = Object.entries(fieldsOf(categories)).filter(([, is]) => is === true)
  return found.map(([name]) => name)
}
