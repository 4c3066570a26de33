import { badRequest, GatewayError } from '../../core/errors.ts'
import { asNumber, asText, isObject, parseObject, textsIn } from '../../core/json.ts'
import type { PluginOptions } from '../../core/plugin-options.ts'
import { type InferenceRequest, newConversation } from '../../core/request.ts'
import { turnAfterLong } from '../../core/turn.ts'
import type { Plugin, PluginContext } from '../plugin.ts'
import { type Classified, classify } from './classify.ts'
import { type Choosable, choosable, matchesAny, patternOf } from './models.ts'
import { TASKS, type Task } from './words.ts'

/** Chooses the models of `sluice/auto` by what the conversation asks for. */
export const autoRouter: Plugin = routerNamed('auto-router')
/** The same router under the name of OpenRouter's newer one. */
export const autoBetaRouter: Plugin = routerNamed('auto-beta-router')

const NAMES: ReadonlySet<string> = new Set(['sluice/auto', 'openrouter/auto', 'openrouter/auto-beta'])

function routerNamed(id: 'auto-router' | 'auto-beta-router'): Plugin {
  return {
    id,
    // A workspace's default model is the choice of its operator.
    isUsual: ({ models }, { workspace }) =>
      id === 'auto-router' && models.some((name) => NAMES.has(name)) && workspace.defaultTextModel === null,
    request: (request, options, context) => {
      // The router chooses for the names that leave the choice to it, unless a provider has a model of this name.
      const isAsked = request.models.some((name) => NAMES.has(name) && !context.snapshot.models.find(name))
      return isAsked ? chosen(request, options, context) : request
    },
  }
}

async function chosen(
  request: InferenceRequest,
  options: PluginOptions,
  context: PluginContext,
): Promise<InferenceRequest> {
  const all = choosable({
    snapshot: context.snapshot,
    workspaceId: context.caller.workspace.id,
    measured: context.measured,
  })
  const models = await allowed(all, options)
  const prompt = textOfFirstTurn(request)
  const { classified, by } = await classifiedBy(prompt, options, context)
  const wanted = weightOf(options, classified.difficulty)
  const range = rangeOf(models, classified.task)
  const scored = models
    .map((model) => ({ id: model.id, score: scoreOf(model, range, classified.task, wanted) }))
    .toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
  const [first] = scored
  context.report({
    type: 'plugin',
    name: 'auto-router',
    summary: `${classified.task} of difficulty ${classified.difficulty}: ${first?.id ?? 'no model has a price'}`,
    data: { ...classified, classified_by: by, quality_weight: wanted, models: scored.slice(0, SHOWN) },
  })
  return scored.length === 0 ? request : { ...request, automaticOrder: scored.map(({ id }) => id) }
}

const SHOWN = 5

async function allowed(models: readonly Choosable[], options: PluginOptions): Promise<readonly Choosable[]> {
  const only = textsIn(options['allowed_models']).map(patternOf)
  const never = textsIn(options['excluded_models']).map(patternOf)
  const inTier = bandOf(options['cost_tier'])
  const named: Choosable[] = []
  let startedAt = performance.now()
  for (const model of models) {
    const { id } = model
    if ((only.length === 0 || matchesAny(id, only)) && !matchesAny(id, never)) named.push(model)
    const turn = turnAfterLong(startedAt)
    if (turn === undefined) continue
    await turn
    startedAt = performance.now()
  }
  if (named.length === 0 && (only.length > 0 || never.length > 0))
    throw badRequest(
      'no configured model with a price matches allowed_models and excluded_models; GET /models lists them',
      `plugins.${options.id}`,
    )
  if (inTier === null) return named
  const within = named.filter(({ priceRank }) => priceRank >= inTier.from && priceRank <= inTier.to)
  // A gateway of few models may have none in the band: the nearest one is what the caller means.
  return within.length > 0 ? within : nearest(named, (inTier.from + inTier.to) / 2)
}

const nearest = (models: readonly Choosable[], rank: number): readonly Choosable[] =>
  models.toSorted((a, b) => Math.abs(a.priceRank - rank) - Math.abs(b.priceRank - rank)).slice(0, 1)

/** Shares of the models by price, as OpenRouter's documentation has them. */
const TIERS = ['low', 'medium', 'high', 'xhigh', 'max']

function bandOf(tier: unknown): { from: number; to: number } | null {
  const place = TIERS.indexOf(asText(tier) ?? '')
  return place === -1 ? null : { from: place / TIERS.length, to: (place + 1) / TIERS.length }
}

const USUAL_TRADEOFF = 7
const MOST_TRADEOFF = 10

/**
 * How much quality counts against price, from 0 to 1. A difficult prompt raises it by up to 0.3, an easy one lowers it by up
 * to 0.3, unless the caller asked for pure quality or pure price.
 */
function weightOf({ cost_quality_tradeoff: asked }: PluginOptions, difficulty: number): number {
  const usual = 1 - (asNumber(asked) ?? USUAL_TRADEOFF) / MOST_TRADEOFF
  if (usual === 0 || usual === 1) return usual
  return Math.round(100 * Math.max(0, Math.min(1, usual + 0.6 * (difficulty - 0.5) + 0.15))) / 100
}

/** A slow model loses at most this much. */
const LATENCY_SHARE = 0.05
const SLOW_MS = 10_000

/**
 * With scores: quality among the models, against the place of the price. Without scores the price is the only sign of
 * quality, so the model whose price is at the place of the weight is the best.
 */
function scoreOf(model: Choosable, range: Range | null, task: Task, weight: number): number {
  const { priceRank, latencyMs } = model
  const late = latencyMs === null ? 0 : LATENCY_SHARE * Math.min(1, latencyMs / SLOW_MS)
  const own = qualityOf(model, task)
  const rounded = (value: number): number => Math.round(1000 * value) / 1000
  if (range === null) return rounded(1 - Math.abs(priceRank - weight) - late)
  // A model without a score stands behind those that have one.
  if (own === null) return rounded(-1 - Math.abs(priceRank - weight) - late)
  const { low, high } = range
  const quality = high === low ? 1 : (own - low) / (high - low)
  return rounded(weight * quality + (1 - weight) * (1 - priceRank) - late)
}

interface Range {
  readonly low: number
  readonly high: number
}

/** Null: no model has a score. */
function rangeOf(models: readonly Choosable[], task: Task): Range | null {
  const known = models.flatMap((model) => qualityOf(model, task) ?? [])
  return known.length === 0 ? null : { low: Math.min(...known), high: Math.max(...known) }
}

function qualityOf({ scores }: Choosable, task: Task): number | null {
  const { codingIndex, intelligenceIndex } = scores
  return (task === 'code' ? (codingIndex ?? intelligenceIndex) : intelligenceIndex) ?? null
}

/** By the words of the prompt, or by the model that the options name; its failure is no reason to refuse the request. */
async function classifiedBy(
  prompt: string,
  options: PluginOptions,
  context: PluginContext,
): Promise<{ classified: Classified; by: string }> {
  const local = { classified: classify(prompt), by: 'words' }
  const model = asText(options['classifier_model'])
  if (model === undefined) return local
  try {
    const { result } = await context.ask(questionFor(model, prompt), { kind: 'auto-router' })
    const answer = classifiedIn(result.choices[0]?.text ?? '')
    return answer === null ? local : { classified: answer, by: model }
  } catch (error) {
    if (error instanceof GatewayError && error.status === 402) throw error
    return local
  }
}

const MOST_QUESTION_CHARACTERS = 4_000
const MOST_ANSWER_TOKENS = 200

const questionFor = (model: string, prompt: string): InferenceRequest => ({
  ...newConversation({
    models: [model],
    messages: [
      {
        role: 'system',
        content: `Classify the prompt of the user; do not answer it. Reply with JSON alone: {"task": one of ${TASKS.map((task) => `"${task}"`).join(', ')}, "difficulty": a number from 0 (any model answers it) to 1}.`,
      },
      { role: 'user', content: prompt.slice(0, MOST_QUESTION_CHARACTERS) },
    ],
  }),
  maxOutputTokens: MOST_ANSWER_TOKENS,
})

function classifiedIn(answer: string): Classified | null {
  const from = answer.indexOf('{')
  const read = from === -1 ? undefined : parseObject(answer.slice(from, answer.lastIndexOf('}') + 1))
  if (!isObject(read)) return null
  const task = TASKS.find((each) => each === read['task'])
  const difficulty = asNumber(read['difficulty'])
  if (task === undefined || difficulty === undefined || difficulty < 0 || difficulty > 1) return null
  return { task, difficulty }
}

/**
 * The text of the user's first turn: the same in every turn of a conversation, so that its model stays the same, and with
 * it the provider's prompt cache.
 */
function textOfFirstTurn({ messages }: InferenceRequest): string {
  const content = messages.find(({ role }) => role === 'user')?.content ?? ''
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}
