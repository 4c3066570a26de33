import { describe, expect, test } from 'bun:test'
import { type DataPolicy, mergedPolicy, withPolicy } from '../../../src/core/data-policy.ts'
import { dataExclusion } from '../../../src/inference/routing/data-rules.ts'
import { endpoint } from '../fixture.ts'

const NOWHERE = { zdr: undefined, dataCollection: undefined }
const why = (policy: DataPolicy, preferences: { zdr?: true; dataCollection?: 'deny' }): string | null => {
  const governed = withPolicy(endpoint('one', 'lab/tiny'), policy)
  const wishes = { ...NOWHERE, allowFallbacks: true, requireParameters: false, ...preferences }
  return dataExclusion(governed, wishes)?.sentence ?? null
}

describe('zdr: true', () => {
  const rows: [string, DataPolicy, string | null][] = [
    ['zero retention by default passes', { zdr: 'always' }, null],
    [
      'zero retention on request says that it can be declared',
      { zdr: 'on_request' },
      'set "data_policy.zdr"',
    ],
    ['no zero retention is a no', { zdr: 'never', training: false }, 'offers no zero data retention'],
    ['unknown is not yes', {}, 'is not known to retain no data'],
    ['no training is not zero retention', { training: false, retentionDays: 30 }, 'is not known to retain'],
  ]
  for (const [name, policy, sentence] of rows) {
    test(name, () => {
      const found = why(policy, { zdr: true })
      if (sentence === null) expect(found).toBeNull()
      else expect(found).toContain(sentence)
    })
  }
})

describe('data_collection: "deny"', () => {
  const rows: [string, DataPolicy, string | null][] = [
    ['zero retention passes', { zdr: 'always' }, null],
    ['no training and 30 days of abuse logs pass', { training: false, retentionDays: 30 }, null],
    ['a year of storage does not', { training: false, retentionDays: 365 }, 'stores prompts for 365 days'],
    ['training does not', { training: true, retentionDays: 0 }, 'may train on prompts'],
    ['unknown training is not no', { retentionDays: 30 }, 'set "data_policy.training" to false'],
    ['unknown retention is not short', { training: false }, 'Set "data_policy.retention_days"'],
  ]
  for (const [name, policy, sentence] of rows) {
    test(name, () => {
      const found = why(policy, { dataCollection: 'deny' })
      if (sentence === null) expect(found).toBeNull()
      else expect(found).toContain(sentence)
    })
  }
})

describe('a policy on top of another', () => {
  const rows: [string, DataPolicy, DataPolicy, DataPolicy][] = [
    [
      'what it leaves out stays',
      { training: false, retentionDays: 30 },
      { zdr: 'never' },
      { training: false, retentionDays: 30, zdr: 'never' },
    ],
    [
      'zero retention stores nothing',
      { retentionDays: 30, zdr: 'on_request' },
      { zdr: 'always' },
      { retentionDays: 0, zdr: 'always' },
    ],
    [
      'no zero retention makes the days unknown',
      { retentionDays: 0, zdr: 'always' },
      { zdr: 'never' },
      { zdr: 'never' },
    ],
    [
      'days of storage make zero retention unknown',
      { retentionDays: 0, zdr: 'always' },
      { retentionDays: 30 },
      { retentionDays: 30 },
    ],
  ]
  for (const [name, base, over, merged] of rows)
    test(name, () => expect(mergedPolicy(base, over)).toEqual(merged))
})
