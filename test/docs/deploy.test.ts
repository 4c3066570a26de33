import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import { settings } from '../../src/config.ts'

const deploy = join(import.meta.dir, '../../deploy')
const read = (file: string): Promise<string> => Bun.file(join(deploy, file)).text()

test('the files of deploy name only settings that exist', async () => {
  const known: string[] = Object.values(settings).map(({ variable }) => variable)
  for (const file of new Glob('**/*').scanSync(deploy)) {
    const named = [...(await read(file)).matchAll(/\bSLUICE_[A-Z_]+/g)].map(([name]) => name)
    expect([file, named.filter((name) => !known.includes(name))]).toEqual([file, []])
  }
})

test('supervisors wait longer than the grace of a shutdown, and there is one replica', async () => {
  const graceSeconds = settings.shutdownGraceMs.fallback / 1000
  const seconds = async (file: string, pattern: RegExp): Promise<number> =>
    Number(pattern.exec(await read(file))?.[1])
  expect(await seconds('sluice.service', /^TimeoutStopSec=(\d+)$/m)).toBeGreaterThan(graceSeconds)
  expect(await seconds('compose.yaml', /stop_grace_period: (\d+)s/)).toBeGreaterThan(graceSeconds)
  expect(await seconds('kubernetes.yaml', /terminationGracePeriodSeconds: (\d+)/)).toBeGreaterThan(
    graceSeconds,
  )
  expect(await seconds('kubernetes.yaml', /replicas: (\d+)/)).toBe(1)
})
