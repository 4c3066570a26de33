import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { nginxPath } from './nginx.ts'
import { isPinned, type OpenFiles } from './process.ts'
import { percentile } from './statistics.ts'

/** The median time in which the disk under the data folder makes a write durable: each settlement waits for one. */
function syncMs(folder: string): number {
  const file = openSync(join(folder, 'sync'), 'w')
  const page = Buffer.alloc(4096)
  const times: number[] = []
  for (let count = 0; count < 100; count++) {
    writeSync(file, page)
    const startedAt = performance.now()
    fdatasyncSync(file)
    times.push(performance.now() - startedAt)
  }
  closeSync(file)
  return percentile(
    times.sort((a, b) => a - b),
    0.5,
  )
}

function nginxVersion(): string {
  const nginx = nginxPath()
  if (nginx === null) return 'no nginx'
  return Bun.spawnSync([nginx, '-v']).stderr.toString().trim().replace('nginx version: ', '')
}

/** One line on what a figure was measured with. */
export function describeMachine(folder: string, files: OpenFiles): string {
  const processors = cpus()
  return [
    `${processors.length} × ${processors[0]?.model.trim() ?? process.arch}`,
    `${Math.round(totalmem() / 2 ** 30)} GiB`,
    `${process.platform} ${release().split('-')[0]}`,
    `Bun ${Bun.version}`,
    nginxVersion(),
    isPinned ? 'gateway on one core, load and mock on the rest' : 'nothing pinned to a core',
    `durable write ${syncMs(folder).toFixed(2)} ms`,
    `${files.hard} open files`,
    `load average before ${(loadavg()[0] ?? 0).toFixed(2)}`,
  ].join(', ')
}
