import { expect, test } from 'bun:test'
import { checkOpenFiles } from '../../src/cli/doctor-surroundings.ts'
import { descriptorLimit, ownDescriptors } from '../../src/server/descriptors.ts'

test('doctor says how many requests the limit of open files allows', () => {
  const config = { maxInFlight: 16_384 }
  expect(checkOpenFiles(config, null)).toMatchObject({ status: 'ok' })
  expect(checkOpenFiles(config, 40_000)).toMatchObject({
    status: 'ok',
    detail: expect.stringContaining('16384 running'),
  })
  expect(checkOpenFiles(config, 20_000)).toMatchObject({
    status: 'ok',
    detail: expect.stringContaining('9824 running'),
  })
  expect(checkOpenFiles({ maxInFlight: 100 }, 20_000)).toMatchObject({
    status: 'ok',
    detail: expect.stringContaining('100 running'),
  })
  expect(checkOpenFiles(config, 1_024)).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('only up to 1024, enough for 336 running requests'),
  })
})

test.skipIf(process.platform !== 'linux')('the soft limit is the hard one already', async () => {
  const script = `import { descriptorLimit } from '${import.meta.dir}/../../src/server/descriptors.ts'; console.log(descriptorLimit())`
  const command = [
    'bash',
    '-c',
    'ulimit -Sn 200 && ulimit -Hn 900 && exec "$0" -e "$1"',
    process.execPath,
    script,
  ]
  expect(Bun.spawnSync(command).stdout.toString().trim()).toBe('900')
})

test.skipIf(process.platform !== 'linux')('descriptors are counted', async () => {
  const own = ownDescriptors()
  expect(own?.limit).toBe(descriptorLimit() ?? 0)
  const before = own?.used() ?? 0
  expect(before).toBeGreaterThan(3)
  expect(before).toBeLessThan(own?.limit ?? 0)
})
