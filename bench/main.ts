import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchCache } from './cache.ts'
import { benchCatalog } from './catalog.ts'
import { benchDialects } from './dialects.ts'
import { benchExport } from './export.ts'
import { benchFaults } from './faults.ts'
import { benchFilters } from './filters.ts'
import { benchGateway } from './gateway.ts'
import { benchHostile } from './hostile.ts'
import { benchLedger } from './ledger.ts'
import { benchPlan } from './plan.ts'
import { benchPlugins } from './plugins.ts'
import { killAll } from './process.ts'
import { profilerFlags, profileScenario } from './profile.ts'
import { type Bench, readSettings, type Settings, USAGE } from './settings.ts'
import { benchSnapshot } from './snapshot.ts'
import { startMock, startTarget } from './targets.ts'

const progress = (text: string) => process.stderr.write(`${text}\n`)

async function profile(folder: string): Promise<boolean> {
  const mock = await startMock()
  for (const scenario of ['unary', 'steps', 'burst'] as const) {
    const inside = join(folder, scenario)
    const options = {
      upstreamPort: mock.port,
      folder: inside,
      fromSource: true,
      bunFlags: profilerFlags(inside),
    }
    const target = await startTarget('sluice', options)
    if (target !== null) await profileScenario(target, scenario, inside)
  }
  await mock.child.stop()
  return true
}

const benches = {
  gateway: benchGateway,
  dialects: benchDialects,
  catalog: benchCatalog,
  filters: benchFilters,
  cache: benchCache,
  ledger: benchLedger,
  hostile: benchHostile,
  faults: benchFaults,
  plan: benchPlan,
  snapshot: benchSnapshot,
  plugins: benchPlugins,
  export: benchExport,
} satisfies Record<Bench, unknown>

async function main(settings: Settings): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const cleanUp = () => {
    killAll()
    if (!settings.isProfile) rmSync(folder, { recursive: true, force: true })
  }
  const interrupt = () => {
    cleanUp()
    process.exit(130)
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  try {
    const isGood = settings.isProfile
      ? await profile(folder)
      : await benches[settings.bench](settings, folder)
    return isGood ? 0 : 1
  } catch (error) {
    progress(error instanceof Error ? error.message : String(error))
    return 1
  } finally {
    cleanUp()
  }
}

function settingsOrExit(): Settings | null {
  try {
    return readSettings(process.argv.slice(2))
  } catch (error) {
    progress(`${error instanceof Error ? error.message : error}\n\n${USAGE}`)
    process.exit(2)
  }
}

if (import.meta.main) {
  const settings = settingsOrExit()
  if (settings === null) console.log(USAGE)
  else process.exit(await main(settings))
}
