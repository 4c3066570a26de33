import { describe, expect, test } from 'bun:test'
import type { Attempt } from '../../../src/core/attempt.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import type { Row } from '../build-table.ts'
import { attemptOf, PLAIN, REASONER } from './attempt.ts'
import { built, ENCRYPTED, table } from './built.ts'

/** A model whose reasoning can be turned off. */
const SWITCHABLE: Attempt = attemptOf('gpt-5.2', {
  supportedParameters: ['reasoning', 'tools'],
  reasoning: { efforts: ['none', 'low', 'medium', 'high', 'xhigh'], takesBudget: false, mayBeOff: true },
})

test.each([
  ['gpt-5', true],
  ['gpt-5.2-codex', true],
  ['o3', true],
  ['o4-mini', true],
  ['openai/gpt-6', true],
  ['openai.gpt-5.6-luna', true],
  ['codex-mini-latest', true],
  ['gpt-5-chat-latest', false],
  ['gpt-4o', false],
  ['gpt-4.1', false],
  ['chatgpt-4o-latest', false],
  ['o3d', false],
  ['llama-o1', false],
] as const)('%s without metadata reasons: %p', (name, reasons) => {
  expect(built({}, attemptOf(name)).body.include).toEqual(reasons ? ENCRYPTED.include : undefined)
})

describe('reasoning', () => {
  const lowest = (attempt: Attempt, reasoning: JsonObject): JsonObject => ({
    ...(attempt === PLAIN ? {} : ENCRYPTED),
    ...(Object.keys(reasoning).length === 0 ? {} : { reasoning }),
  })
  table([
    ['not requested', {}, ENCRYPTED, [], REASONER],
    ['of a model that does not reason', { reasoning: { effort: 'high' } }, {}, ['reasoning'], PLAIN],
    ['off, of a model that does not reason', { reasoning: { enabled: false } }, {}, [], PLAIN],
    ['only an effort', { reasoning_effort: 'low' }, lowest(REASONER, { effort: 'low' }), [], REASONER],
    [
      'an effort, with a summary',
      { reasoning: { effort: 'low' } },
      lowest(REASONER, { effort: 'low', summary: 'auto' }),
      [],
      REASONER,
    ],
    [
      'an effort, hidden',
      { reasoning: { effort: 'low', exclude: true } },
      lowest(REASONER, { effort: 'low' }),
      [],
      REASONER,
    ],
    [
      'a summary of one kind',
      { reasoning: { summary: 'detailed' } },
      lowest(REASONER, { summary: 'detailed' }),
      [],
      REASONER,
    ],
    ['with a summary', { include_reasoning: true }, lowest(REASONER, { summary: 'auto' }), [], REASONER],
    [
      'an effort that is too high',
      { reasoning_effort: 'xhigh' },
      lowest(REASONER, { effort: 'high' }),
      ['reasoning.effort'],
      REASONER,
    ],
    [
      'an effort that is too low',
      { reasoning_effort: 'minimal' },
      lowest(REASONER, { effort: 'low' }),
      ['reasoning.effort'],
      REASONER,
    ],
    [
      'off, of a model that always reasons',
      { reasoning: { enabled: false } },
      lowest(REASONER, { effort: 'low' }),
      ['reasoning.effort'],
      REASONER,
    ],
    ['off', { reasoning: { enabled: false } }, lowest(SWITCHABLE, { effort: 'none' }), [], SWITCHABLE],
    [
      'on',
      { reasoning: { enabled: true } },
      lowest(SWITCHABLE, { effort: 'medium', summary: 'auto' }),
      [],
      SWITCHABLE,
    ],
    [
      'on, of a model that always reasons',
      { reasoning: { enabled: true } },
      lowest(REASONER, { summary: 'auto' }),
      [],
      REASONER,
    ],
    ...(
      [
        [1_024, 'low'],
        [8_192, 'medium'],
        [8_193, 'high'],
      ] as const
    ).map(
      ([tokens, effort]): Row => [
        `a budget of ${tokens}`,
        { reasoning: { max_tokens: tokens } },
        lowest(REASONER, { effort, summary: 'auto' }),
        ['reasoning.max_tokens'],
        REASONER,
      ],
    ),
    ['of an unknown model', { reasoning_effort: 'low' }, lowest(REASONER, { effort: 'low' })],
    [
      'newer and unknown fields',
      { reasoning: { effort: 'low', context: 'all_turns', mood: 'calm' } },
      lowest(REASONER, { context: 'all_turns', effort: 'low', summary: 'auto' }),
      ['reasoning.mood'],
      REASONER,
    ],
    [
      'of a gateway, which accepts all fields',
      { reasoning: { max_tokens: 2000, exclude: true } },
      lowest(REASONER, { max_tokens: 2000, exclude: true }),
      [],
      attemptOf('gpt-5', { supportedParameters: ['reasoning'] }, { quirks: { reasoningField: 'reasoning' } }),
    ],
  ])
})
