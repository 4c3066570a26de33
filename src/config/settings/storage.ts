import * as read from '../readers.ts'
import { type Setting, setting } from '../setting.ts'

/** Retention, size limits and caches. */
export const storageSettings = {
  ledgerRetentionDays: setting({
    variable: 'SLUICE_LEDGER_RETENTION_DAYS',
    type: 'days',
    fallback: 0,
    read: read.wholeNumber(0, 36_500, 'days'),
    meaning: 'How long the row of each generation is kept. `0`: forever. Sums are always kept.',
  }),
  ledgerMaxMb: setting({
    variable: 'SLUICE_LEDGER_MAX_MB',
    type: 'MB',
    fallback: 0,
    read: read.wholeNumber(0, 100_000_000, 'MB'),
    meaning: 'Size of `sluice.db` above which its oldest rows are deleted. `0`: no limit.',
  }),
  responsesRetentionDays: setting({
    variable: 'SLUICE_RESPONSES_RETENTION_DAYS',
    type: 'days',
    fallback: 30,
    read: read.wholeNumber(1, 36_500, 'days'),
    meaning: 'How long logged contents are kept, and stored responses after their last use.',
  }),
  responsesItemsMinutes: setting({
    variable: 'SLUICE_RESPONSES_ITEMS_MINUTES',
    type: 'minutes',
    fallback: 60,
    read: read.wholeNumber(0, 1_440, 'minutes'),
    meaning: 'How long items of responses without `store` can be referenced by id. `0`: not at all.',
  }),
  bodiesMaxMb: setting({
    variable: 'SLUICE_BODIES_MAX_MB',
    type: 'MB',
    fallback: 0,
    read: read.wholeNumber(0, 100_000_000, 'MB'),
    meaning:
      'Size limit of `bodies.db`. `0`: no limit. The oldest logged contents are deleted first, stored responses stay.',
  }),
  filesQuotaMb: setting({
    variable: 'SLUICE_FILES_QUOTA_MB',
    type: 'MB',
    fallback: 10_000,
    read: read.wholeNumber(1, 100_000_000, 'MB'),
    meaning: 'Total size of the uploaded files of one workspace.',
  }),
  responseCacheMb: setting({
    variable: 'SLUICE_RESPONSE_CACHE_MB',
    type: 'MB',
    fallback: 64,
    read: read.wholeNumber(0, 1_000_000, 'MB'),
    meaning: 'Memory for cached replies. `0`: no reply is cached.',
  }),
  contextCache: setting({
    variable: 'SLUICE_CONTEXT_CACHE',
    type: '`on`, `off`',
    fallback: true,
    read: read.onOff,
    meaning:
      'Creates Gemini context caches for prompts with `cache_control`, for five minutes each, if the model has a price for them.',
  }),
} satisfies Record<string, Setting<unknown>>
