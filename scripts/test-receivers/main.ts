/**
 * Delivers to real receivers that run without an account, and reads back what they have. Installs them outside the
 * repository, in ${XDG_CACHE_HOME:-~/.cache}/sluice-receivers. Ends with 1 if one of them did not get what it should;
 * one that this machine cannot run is named, and is no failure. `--only <part of a name>` runs some of them.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { clickhouse } from './clickhouse.ts'
import { otelCollector } from './otel-collector.ts'
import { prometheusGo, prometheusPython } from './prometheus.ts'
import type { Receiver, Running } from './receiver.ts'
import { s3 } from './s3.ts'

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const only = values.only?.toLowerCase() ?? ''
const receivers: readonly Receiver[] = [clickhouse, otelCollector, s3, prometheusPython, prometheusGo]

async function run(receiver: Receiver): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-receiver-'))
  let running: Running | null = null
  try {
    try {
      running = await receiver.start(folder)
    } catch (error) {
      console.log(`- ${receiver.name}: not run: ${wordsOf(error)}`)
      return true
    }
    const lines = await running.check()
    console.log([`- ${receiver.name} ${running.version}: all as expected`, ...lines].join('\n    '))
    return true
  } catch (error) {
    console.log(`- ${receiver.name}: FAILED: ${wordsOf(error)}`)
    return false
  } finally {
    await running?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

let isFine = true
for (const receiver of receivers) {
  if (receiver.name.toLowerCase().includes(only)) isFine = (await run(receiver)) && isFine
}
process.exitCode = isFine ? 0 : 1
