import { describe, expect, test } from 'bun:test'
import { type DataPolicy, withPolicy } from '../../src/core/data-policy.ts'
import { forbids, type GuardrailRecord } from '../../src/core/guardrail.ts'
import { endpoint, guardrail, model, provider } from '../inference/fixture.ts'

const NO_TRAINING = guardrail({ mayTrainPaid: false })
const ZDR = guardrail({ zdrAuthors: new Set(['other']) })
const EUROPE = guardrail({ allowedRegions: new Set(['europe']) })

const rows: [name: string, GuardrailRecord, DataPolicy, regions: string[] | undefined, allowed: boolean][] = [
  ['training is forbidden, and the provider does not', NO_TRAINING, { training: false }, undefined, true],
  ['training is forbidden, and it is not known', NO_TRAINING, { retentionDays: 30 }, undefined, false],
  ['training is forbidden, and the provider trains', NO_TRAINING, { training: true }, undefined, false],
  ['training is forbidden, and nothing is stored', NO_TRAINING, { zdr: 'always' }, undefined, true],
  ['zero retention is enforced, and it is the default', ZDR, { zdr: 'always' }, undefined, true],
  ['zero retention is enforced, and it needs an agreement', ZDR, { zdr: 'on_request' }, undefined, false],
  ['zero retention is enforced, and only training is excluded', ZDR, { training: false }, undefined, false],
  ['a region is enforced, and prompts stay there', EUROPE, {}, ['eu'], true],
  ['a region is enforced, and they may go to another', EUROPE, {}, ['eu', 'us'], false],
  ['a region is enforced, and none is known', EUROPE, {}, undefined, false],
]

describe('what a guardrail makes of a data policy', () => {
  for (const [name, rules, policy, regions, isAllowed] of rows) {
    test(`${name}: ${isAllowed ? 'allowed' : 'forbidden'}`, () => {
      const known = endpoint('one', 'lab/tiny', regions === undefined ? {} : { regions })
      const governed = withPolicy(known, policy)
      const reason = forbids([rules], model('lab/tiny', [governed]), governed, provider('one'))
      expect(reason === null).toBe(isAllowed)
    })
  }
})
