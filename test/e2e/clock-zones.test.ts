import { expect, test } from 'bun:test'
import { join } from 'node:path'

/** Half a day ahead with summer time in the south; an odd half hour behind with summer time in the north. */
const ZONES = ['Pacific/Auckland', 'America/St_Johns']

test.each(ZONES)(
  'limits reset and requests book as everywhere, on a host in %s',
  async (zone) => {
    const file = join(import.meta.dir, 'clock.test.ts')
    const child = Bun.spawn([process.execPath, 'test', '--timeout', '20000', file], {
      cwd: join(import.meta.dir, '../..'),
      env: { ...process.env, TZ: zone, SLUICE_TEST_ZONE: zone },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [printed, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited])
    expect([exitCode, printed]).toEqual([
      0,
      expect.stringMatching(
        /^\(pass\) the host is in the zone of the setting.*\n\n\s*\d{2,} pass\n\s*0 fail\n/m,
      ),
    ])
  },
  60_000,
)
