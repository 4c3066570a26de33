import * as read from '../readers.ts'
import { optional, type Setting, setting } from '../setting.ts'

export type RefreshSchedule = 'off' | 'daily' | 'weekly'

/** The model catalogue, prices and name lists. */
export const modelSettings = {
  modelsList: setting<'configured' | 'all'>({
    variable: 'SLUICE_MODELS_LIST',
    type: '`configured`, `all`',
    fallback: 'configured',
    read: read.oneOf('configured', 'all'),
    meaning: 'Which models are listed: those that can be called here, or the complete catalogue.',
  }),
  modelsRefresh: setting<RefreshSchedule>({
    variable: 'SLUICE_MODELS_REFRESH',
    type: '`off`, `daily`, `weekly`',
    fallback: 'off',
    read: read.oneOf('off', 'daily', 'weekly'),
    meaning: 'How often model metadata and prices are updated. The start never waits for an update.',
  }),
  modelsUrl: setting({
    variable: 'SLUICE_MODELS_URL',
    type: 'URL',
    fallback: 'https://models.dev/api.json',
    read: read.webAddress,
    meaning: 'Source of model metadata: a document of the models.dev form.',
  }),
  benchmarks: optional({
    variable: 'SLUICE_BENCHMARKS',
    type: 'file',
    read: read.text('the path of a file', (value) => value !== ''),
    meaning: 'File with scores and categories of models, for sorting and filtering: JSON by model id.',
  }),
  unpriced: setting<read.UnpricedPolicy>({
    variable: 'SLUICE_UNPRICED',
    type: '`refuse`, USD per token',
    fallback: 'refuse',
    read: read.unpricedPolicy,
    meaning:
      'Models without a price: refuse them, or charge this price (`prompt,completion`, or one number for both).',
  }),
  personNames: optional({
    variable: 'SLUICE_PERSON_NAMES',
    type: 'file',
    read: read.text('the path of a file', (value) => value !== ''),
    meaning: 'File with names of people for the content filter `person-name`: one per line, UTF-8.',
  }),
} satisfies Record<string, Setting<unknown>>
