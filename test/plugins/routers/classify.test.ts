import { describe, expect, test } from 'bun:test'
import { classify } from '../../../src/plugins/routers/classify.ts'
import { HELD_OUT, type Labelled, PROMPTS } from './prompts.ts'

const HARD = 0.5
const shareOf = (all: readonly Labelled[], isRight: (labelled: Labelled) => boolean): number =>
  all.filter(isRight).length / all.length

describe.each([
  ['the prompts that it was tuned with', PROMPTS],
  ['prompts that it was not tuned with', HELD_OUT],
] as const)('the classifier and %s', (_, prompts) => {
  test('the task is named right of at least 85 %', () => {
    expect(shareOf(prompts, ({ task, prompt }) => classify(prompt).task === task)).toBeGreaterThanOrEqual(
      0.85,
    )
  })

  test('at least 85 % are classified correctly as hard or not', () => {
    expect(
      shareOf(prompts, ({ isHard, prompt }) => classify(prompt).difficulty >= HARD === isHard),
    ).toBeGreaterThanOrEqual(0.85)
  })
})

test('a prompt of megabytes is judged by its beginning and its end', () => {
  const filler = 'lorem ipsum '.repeat(500_000)
  expect(classify(`Translate this into French: ${filler}`).task).toBe('translation')
  expect(classify(`${filler} Translate all of it into French.`).task).toBe('translation')
})

test('an empty prompt is small talk', () => {
  expect(classify('')).toEqual({ task: 'chat', difficulty: 0 })
})
