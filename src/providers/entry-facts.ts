import type { Static, TObject } from '@sinclair/typebox'
import type { DataPolicy } from '../core/data-policy.ts'
import type { ConfigProblem } from '../core/problem.ts'
import type { ProviderFacts } from '../core/snapshot.ts'
import type { factFields } from './entry-schema.ts'

type WrittenFacts = Static<TObject<typeof factFields>> & {
  /** A short form of `data_policy.zdr`: `always`, or `never`. */
  readonly zdr?: boolean
}

/** The facts of an entry of `providers:` or `models:`. Statements that contradict each other are problems. */
export function readDataFacts(
  { data_policy: written, zdr: short, regions, quantization, moderated }: WrittenFacts,
  place: string,
  problems: ConfigProblem[],
): ProviderFacts {
  const { training, retention_days: retentionDays, zdr = shortZdr(short) } = written ?? {}
  const path = `${place}.data_policy`
  if (short !== undefined && written?.zdr !== undefined && short !== (written.zdr === 'always')) {
    problems.push({ path: `${place}.zdr`, message: `contradicts data_policy.zdr: "${written.zdr}"` })
  }
  if (zdr === 'always' && training === true) {
    problems.push({
      path: `${path}.training`,
      message: 'contradicts zdr: data that trains a model is stored',
    })
  }
  if (zdr === 'always' && retentionDays !== undefined && retentionDays > 0) {
    problems.push({
      path: `${path}.retention_days`,
      message: 'contradicts zdr: zero data retention is 0 days. Leave it out',
    })
  }
  const dataPolicy: DataPolicy = {
    ...(training === undefined ? {} : { training }),
    ...(retentionDays === undefined ? {} : { retentionDays }),
    ...(zdr === undefined ? {} : { zdr }),
  }
  return {
    ...(Object.keys(dataPolicy).length === 0 ? {} : { dataPolicy }),
    ...(regions === undefined ? {} : { regions }),
    ...(quantization === undefined ? {} : { quantization: quantization.toLowerCase() }),
    ...(moderated === undefined ? {} : { isModerated: moderated }),
  }
}

const shortZdr = (short: boolean | undefined): DataPolicy['zdr'] =>
  short === undefined ? undefined : short ? 'always' : 'never'
