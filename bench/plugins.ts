import { heal } from '../src/plugins/response-healing/heal.ts'
import { classify } from '../src/plugins/routers/classify.ts'
import { HELD_OUT, type Labelled, PROMPTS } from '../test/plugins/routers/prompts.ts'
import { brokenAnswers, wholeAnswers } from './healing-corpus.ts'
import { costRows } from './plugin-costs.ts'
import { aligned, markdown } from './print.ts'
import type { Settings } from './settings.ts'

/** How well plugins do what they are for. */

const HEALED_GOAL = 0.95

/** The kinds of broken answers, and how many of each the repair gets right. */
function healingRows(): { rows: string[][]; isGood: boolean } {
  const kinds = new Map<string, { right: number; all: number }>()
  for (const { kind, seed, answer, isRight } of brokenAnswers()) {
    const counted = kinds.get(kind) ?? { right: 0, all: 0 }
    kinds.set(kind, counted)
    const healed = heal(answer, { ...seed.schema })
    counted.all += 1
    if (healed.kind === 'healed' && isRight(JSON.parse(healed.text))) counted.right += 1
  }
  const sum = (of: (counted: { right: number; all: number }) => number): number =>
    [...kinds.values()].reduce((total, counted) => total + of(counted), 0)
  const right = sum((counted) => counted.right)
  const all = sum((counted) => counted.all)
  const wholes = wholeAnswers()
  const changed = wholes.filter(
    ({ seed, answer }) => heal(answer, { ...seed.schema }).kind !== 'whole',
  ).length
  return {
    rows: [
      ['broken answers', 'tried', 'repaired'],
      ...[...kinds].map(([kind, counted]) => [kind, String(counted.all), String(counted.right)]),
      ['all', String(all), `${right} (${((100 * right) / all).toFixed(1)} %)`],
      ['whole answers that were changed', String(wholes.length), String(changed)],
    ],
    isGood: right >= HEALED_GOAL * all && changed === 0,
  }
}

/** Of difficulty from here on a prompt is hard. */
const HARD = 0.5
const ROUTER_GOAL_MS = 2
const ROUNDS = 200

/** How often the auto-router's classifier is right, and how long it takes for a prompt of the length that it reads. */
function routerRows(): { rows: string[][]; isGood: boolean } {
  const share = (all: readonly Labelled[], isRight: (labelled: Labelled) => boolean): string =>
    `${((100 * all.filter(isRight).length) / all.length).toFixed(1)} %`
  const rowOf = (name: string, all: readonly Labelled[]): string[] => [
    name,
    String(all.length),
    share(all, ({ task, prompt }) => classify(prompt).task === task),
    share(all, ({ isHard, prompt }) => classify(prompt).difficulty >= HARD === isHard),
  ]
  const longest = PROMPTS.map(({ prompt }) => prompt)
    .join('\n')
    .repeat(20)
  const startedAt = performance.now()
  for (let i = 0; i < ROUNDS; i++) classify(longest)
  const ms = (performance.now() - startedAt) / ROUNDS
  return {
    rows: [
      ['auto-router', 'prompts', 'task right', 'difficulty right'],
      rowOf('tuned with', PROMPTS),
      rowOf('held out', HELD_OUT),
      ['longest prompt', `${ms.toFixed(2)} ms`, '', ''],
    ],
    isGood: ms <= ROUTER_GOAL_MS,
  }
}

export async function benchPlugins(settings: Settings): Promise<boolean> {
  const print = settings.isMarkdown ? markdown : aligned
  const { rows, isGood } = healingRows()
  console.log(`${print(rows)}\n`)
  const router = routerRows()
  console.log(`${print(router.rows)}\n`)
  const costs = await costRows()
  console.log(`${print(costs.rows)}\n`)
  console.log('response-healing must repair 95 % of the broken answers, and change no whole one.')
  return isGood && router.isGood && costs.isGood
}
