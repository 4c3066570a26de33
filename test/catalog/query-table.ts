/** The query table of GET /models, written independently: which facts each value selects. */
import { ALL, type Any, type AnyPlace, DAY, now, retainsNothing } from './table-facts.ts'

/** The condition of a value: on each endpoint, or on the model by its matching endpoints. */
export type Row = [
  query: string,
  ask: {
    place?(place: AnyPlace): boolean
    model?(model: Any, seen: AnyPlace[]): boolean
    by?(model: Any, seen: AnyPlace[]): number | null
  },
]
const cheapest = (seen: AnyPlace[]): AnyPlace | undefined =>
  seen.reduce<AnyPlace | undefined>(
    (best, one) => (best && best.prompt + best.completion <= one.prompt + one.completion ? best : one),
    undefined,
  )
const promptOf = (seen: AnyPlace[]): number => cheapest(seen)?.prompt ?? Number.NaN
const completionOf = (seen: AnyPlace[]): number => cheapest(seen)?.completion ?? Number.NaN
/** Of two equal prices of prompts, the completion's decides. */
const byPrompt = (seen: AnyPlace[]): number => promptOf(seen) * 1e6 + completionOf(seen)
const scoreOf = ({ scores }: Any, name: string): number | null => {
  const score = scores?.[name]
  return typeof score === 'number' ? score : null
}
const scored = (name: string, passes: (score: number) => boolean) => ({
  model(one: Any): boolean {
    const score = scoreOf(one, name)
    return score !== null && passes(score)
  },
})
const days = ({ created }: Any): number => (now - created * 1000) / DAY
const most = (values: (number | undefined)[], pick: (...all: number[]) => number): number | null => {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? null : pick(...known)
}
const inCategory = (name: string) => ({
  model: ({ scores }: Any) => Array.isArray(scores?.['categories']) && scores['categories'].includes(name),
})
const gives = (...names: string[]) => ({
  model: (one: Any) => one.gives.some((name) => names.includes(name)),
})

export const rows: Record<string, Row[]> = {
  category: [
    ['category=programming', inCategory('programming')],
    ['category=legal', inCategory('legal')],
  ],
  supported_parameters: [
    ['supported_parameters=seed', { place: ({ parameters }) => parameters.includes('seed') }],
    [
      'supported_parameters=tools,seed',
      { place: ({ parameters }) => parameters.includes('tools') && parameters.includes('seed') },
    ],
  ],
  output_modalities: [
    ['output_modalities=all', { model: () => true }],
    ['output_modalities=image,audio', gives('image', 'audio')],
    ['output_modalities=embeddings', gives('embeddings')],
  ],
  input_modalities: [
    ['input_modalities=image', { model: (_, seen) => seen.some(({ takes }) => takes.includes('image')) }],
    [
      'input_modalities=audio,file',
      { model: (_, seen) => seen.some(({ takes }) => takes.includes('audio') || takes.includes('file')) },
    ],
  ],
  sort: [
    [
      'sort=most-popular',
      { by: ({ requests }) => (requests ? requests.today + requests.twoWeeksAgo : null) },
    ],
    ['sort=top-weekly', { by: ({ requests }) => requests?.today ?? null }],
    ['sort=newest', { by: ({ created }) => created || null }],
    ['sort=pricing-low-to-high', { by: (_, seen) => -byPrompt(seen) }],
    ['sort=pricing-high-to-low', { by: (_, seen) => byPrompt(seen) }],
    ['sort=context-high-to-low', { by: (_, seen) => Math.max(...seen.map(({ context }) => context)) }],
    [
      'sort=throughput-high-to-low',
      {
        by: (_, seen) =>
          most(
            seen.map(({ speed }) => speed),
            Math.max,
          ),
      },
    ],
    [
      'sort=latency-low-to-high',
      {
        by(_, seen) {
          const least = most(
            seen.map(({ latency }) => latency),
            Math.min,
          )
          return least === null ? null : -least
        },
      },
    ],
    ['sort=intelligence-high-to-low', { by: (one) => scoreOf(one, 'intelligence_index') }],
    ['sort=coding-high-to-low', { by: (one) => scoreOf(one, 'coding_index') }],
    ['sort=agentic-high-to-low', { by: (one) => scoreOf(one, 'agentic_index') }],
    ['sort=design-arena-elo-high-to-low', { by: (one) => scoreOf(one, 'design_arena_elo') }],
  ],
  q: [
    ['q=alpha', { model: ({ id }) => id.includes('alpha') }],
    ['q=ACME%202', { model: ({ name }) => name.startsWith('Acme') && name.includes('2') }],
  ],
  context: [['context=64000', { place: ({ context }) => context >= 64_000 }]],
  min_price: [['min_price=2', { model: (_, seen) => promptOf(seen) >= 2 }]],
  max_price: [['max_price=2.5', { model: (_, seen) => promptOf(seen) <= 2.5 }]],
  min_output_price: [['min_output_price=4', { model: (_, seen) => completionOf(seen) >= 4 }]],
  max_output_price: [['max_output_price=10', { model: (_, seen) => completionOf(seen) <= 10 }]],
  arch: [
    ['arch=gpt', { model: ({ tokenizer, id }) => tokenizer === 'GPT' || id.includes('/gpt') }],
    ['arch=llama', { model: ({ id }) => id.includes('/llama') }],
  ],
  model_authors: [
    ['model_authors=acme', { model: ({ id }) => id.startsWith('acme/') }],
    ['model_authors=openai,Zeta', { model: ({ id }) => /^(openai|zeta)\//.test(id) }],
  ],
  providers: [
    ['providers=cloud', { place: ({ at }) => at === 'cloud' }],
    ['providers=Euro%20Host,lab', { place: ({ at }) => at === 'euro' || at === 'lab' }],
  ],
  distillable: [
    ['distillable=true', { place: ({ distillable }) => distillable === true }],
    ['distillable=false', { place: ({ distillable }) => distillable === false }],
  ],
  zdr: [['zdr=true', { place: retainsNothing }]],
  region: [
    ['region=eu', { place: ({ regions }) => regions?.includes('eu') ?? false }],
    ['region=us', { place: ({ regions }) => regions?.includes('us') ?? false }],
  ],
  min_age_days: [['min_age_days=10', { model: (one) => one.created > 0 && days(one) >= 10 }]],
  max_age_days: [['max_age_days=10', { model: (one) => one.created > 0 && days(one) <= 10 }]],
  min_intelligence_index: [
    ['min_intelligence_index=40', scored('intelligence_index', (score) => score >= 40)],
  ],
  max_intelligence_index: [
    ['max_intelligence_index=40', scored('intelligence_index', (score) => score <= 40)],
  ],
  min_coding_index: [['min_coding_index=21', scored('coding_index', (score) => score >= 21)]],
  max_coding_index: [['max_coding_index=30', scored('coding_index', (score) => score <= 30)]],
  min_agentic_index: [['min_agentic_index=1', scored('agentic_index', (score) => score >= 1)]],
  max_agentic_index: [['max_agentic_index=9', scored('agentic_index', (score) => score <= 9)]],
  min_tool_success_rate: [
    ['min_tool_success_rate=0.6', scored('tool_success_rate', (score) => score >= 0.6)],
  ],
  max_tool_success_rate: [
    ['max_tool_success_rate=0.9', scored('tool_success_rate', (score) => score <= 0.9)],
  ],
  limit: [['limit=2', {}]],
  offset: [['offset=1', {}]],
  use_rss: [['use_rss=true', {}]],
}

/** The ids that the table expects for several parameters, in order, before paging. */
export function expected(asked: readonly Row[]): { ids: string[]; prices: Map<string, string> } {
  const asksOutput = asked.some(([query]) => query.startsWith('output_modalities'))
  const seenOf = (one: Any): AnyPlace[] =>
    one.places.filter((place) => asked.every(([, { place: passes }]) => passes?.(place) ?? true))
  const passed = ALL.map((one) => ({ one, seen: seenOf(one) })).filter(
    ({ one, seen }) =>
      seen.length > 0 &&
      (asksOutput || one.gives.includes('text')) &&
      asked.every(([, { model }]) => model?.(one, seen) ?? true),
  )
  const by = asked.find(([, ask]) => ask.by !== undefined)?.[1].by
  if (by !== undefined) {
    const score = ({ one, seen }: (typeof passed)[number]): number =>
      by(one, seen) ?? Number.NEGATIVE_INFINITY
    passed.sort((left, right) => (score(left) === score(right) ? 0 : score(right) - score(left)))
  }
  return {
    ids: passed.map(({ one }) => one.id),
    prices: new Map(passed.map(({ one, seen }) => [one.id, String(promptOf(seen))])),
  }
}
