import { join } from 'node:path'
import { DATABASE_FILE } from '../../src/db/database.ts'
import { startSluice } from '../sluice.ts'
import { median } from '../statistics.ts'
import type { StartOptions } from '../target.ts'

/** From the start of the process to the first 200 of /health/ready. */

const START_GOAL_MS = 1000

export interface StartRow {
  name: string
  millis: number[]
}

export async function startTimes(options: StartOptions, times: number): Promise<StartRow[]> {
  const warm: StartRow = { name: 'file in memory', millis: [] }
  const cold: StartRow = { name: 'file not in memory', millis: [] }
  for (let count = 0; count < times; count++) {
    for (const row of [warm, cold]) {
      if (row === cold && !forgetFile(join(options.folder, 'data', DATABASE_FILE))) continue
      const target = await startSluice({ ...options, keys: 0 })
      row.millis.push(target.readyMs ?? Number.NaN)
      await target.stop()
    }
  }
  return [warm, cold].filter(({ millis }) => millis.length > 0)
}

/** Asks the kernel to drop what it keeps of a file; false where there is no way to. */
function forgetFile(path: string): boolean {
  if (process.platform !== 'linux' || Bun.which('dd') === null) return false
  return Bun.spawnSync(['dd', `if=${path}`, 'iflag=nocache', 'count=0', 'status=none']).success
}

export const startTable = (rows: readonly StartRow[]): string[][] => [
  ['start until ready', 'median, ms', 'most, ms', 'goal', 'reached'],
  ...rows.map(({ name, millis }) => [
    name,
    median(millis).toFixed(0),
    Math.max(...millis).toFixed(0),
    `≤ ${START_GOAL_MS}`,
    isStartGood({ name, millis }) ? 'yes' : 'NO',
  ]),
]

export const isStartGood = ({ millis }: StartRow): boolean => median(millis) <= START_GOAL_MS
