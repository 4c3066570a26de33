import { badRequest, notFound } from '../../core/errors.ts'
import { asNumber } from '../../core/json.ts'
import type { PluginOptions } from '../../core/plugin-options.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { Plugin, PluginContext } from '../plugin.ts'
import { type Choosable, choosable } from './models.ts'

/** Chooses the cheapest model that no other one beats in both coding score and price. */
export const paretoRouter: Plugin = {
  id: 'pareto-router',
  implied: ({ models }) => (models.some((name) => NAMES.has(name)) ? { id: 'pareto-router' } : null),
  request: (request, options, context) =>
    request.models.some((name) => NAMES.has(name) && !context.snapshot.models.find(name))
      ? chosen(request, options, context)
      : request,
}

const NAMES: ReadonlySet<string> = new Set(['sluice/pareto', 'openrouter/pareto-code'])

/** Of the best score among the models. */
const HIGH = 0.66

interface Point {
  readonly id: string
  readonly price: number
  readonly score: number
}

function chosen(
  request: InferenceRequest,
  options: PluginOptions,
  { snapshot, caller, measured, report }: PluginContext,
): InferenceRequest {
  const points = pointsOf(
    choosable({ snapshot, workspaceId: caller.workspace.id, measured }),
    options['price_source'] === 'weighted_avg',
  )
  if (points.length === 0)
    throw badRequest(
      'no configured model has a coding score: name a file of scores in SLUICE_BENCHMARKS, or set benchmarks.coding_index of models in sluice.yaml',
      'plugins.pareto-router',
    )
  const frontier = frontierOf(points)
  const fitting = fittingOf(frontier, options)
  report({
    type: 'plugin',
    name: 'pareto-router',
    summary: `${fitting[0]?.id}: ${frontier.length} of ${points.length} models are on the frontier`,
    data: { frontier },
  })
  return { ...request, automaticOrder: fitting.map(({ id }) => id) }
}

const pointsOf = (models: readonly Choosable[], isWeighted: boolean): Point[] => {
  const best = Math.max(...models.map(({ scores }) => scores.codingIndex ?? 0))
  return models.flatMap(({ id, scores: { codingIndex }, promptPrice, price }) =>
    codingIndex === undefined || best === 0
      ? []
      : [
          {
            id,
            price: isWeighted ? price : promptPrice,
            score: Math.round((1000 * codingIndex) / best) / 1000,
          },
        ],
  )
}

/** Cheapest first; each one scores more than those before it. */
function frontierOf(points: readonly Point[]): Point[] {
  const frontier: Point[] = []
  for (const point of points.toSorted((a, b) => a.price - b.price || b.score - a.score)) {
    const last = frontier.at(-1)
    if (last === undefined || point.score > last.score) frontier.push(point)
  }
  return frontier
}

/** A maximal price alone asks for the best below it; else the cheapest with the score, and then the next ones. */
function fittingOf(frontier: readonly Point[], options: PluginOptions): readonly Point[] {
  const most = asNumber(options['max_price'])
  if (most !== undefined) {
    const affordable = frontier.filter(({ price }) => price <= most)
    if (affordable.length > 0) return affordable.toReversed()
    throw notFound(
      `plugins.pareto-router.max_price: no model with a coding score costs at most ${most} USD per million tokens; the cheapest, ${frontier[0]?.id}, costs ${frontier[0]?.price}`,
    )
  }
  const least = asNumber(options['min_coding_score']) ?? HIGH
  // The best model has the score 1, so one always fits.
  return frontier.filter(({ score }) => score >= least)
}
