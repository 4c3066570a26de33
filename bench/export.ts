import { benchDelivery } from './export/delivery.ts'
import { benchMetrics } from './export/metrics.ts'
import type { Settings } from './settings.ts'

/** What observability costs. `--only` names one part. */
const PARTS: readonly { readonly name: string; run(settings: Settings, folder: string): Promise<boolean> }[] =
  [
    { name: 'metrics', run: benchMetrics },
    { name: 'delivery', run: benchDelivery },
  ]

/** Prints a table for each part; true if every goal is reached. */
export async function benchExport(settings: Settings, folder: string): Promise<boolean> {
  let isGood = true
  for (const { name, run } of PARTS) {
    if (settings.only !== null && !name.includes(settings.only)) continue
    isGood = (await run(settings, folder)) && isGood
  }
  return isGood
}
