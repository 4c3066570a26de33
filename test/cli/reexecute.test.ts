import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { directLoopback } from '../../src/cli/reexecute.ts'
import { bare, inFolder } from './process.ts'

const module = JSON.stringify(join(import.meta.dir, '../../src/cli/reexecute.ts'))

/** Says its pid and arguments once it has begun again, and ends with 7 on SIGTERM. */
const program = (platform: string): string => `
import { reexecute } from ${module}
const exitCode = await reexecute(${JSON.stringify(platform)})
if (exitCode !== null) process.exit(exitCode)
process.on('SIGTERM', () => process.exit(7))
console.log(JSON.stringify({ pid: process.pid, args: process.argv.slice(2), cap: process.env.BUN_CONFIG_MAX_HTTP_REQUESTS, other: process.env.OTHER }))
setInterval(() => undefined, 1000)
`

const platforms: [platform: string, isSamePid: boolean][] = [
  ['linux', true],
  ['win32', false],
]
test.each(platforms)(
  'as on %s: arguments, environment, signals and the exit code pass',
  async (platform, isSamePid) => {
    await inFolder(async (folder) => {
      const file = join(folder, 'program.ts')
      writeFileSync(file, program(platform))
      const child = Bun.spawn([process.execPath, file, 'serve', '--data', 'a b'], {
        env: bare({ OTHER: 'kept' }),
        cwd: folder,
        stdout: 'pipe',
        stderr: 'inherit',
      })
      const reader = child.stdout.getReader()
      const line = new TextDecoder().decode((await reader.read()).value)
      const printed: Record<string, unknown> = JSON.parse(line)
      expect(printed).toEqual({
        pid: expect.any(Number),
        args: ['serve', '--data', 'a b'],
        cap: '65535',
        other: 'kept',
      })
      expect(printed['pid'] === child.pid).toBe(isSamePid)
      child.kill('SIGTERM')
      expect(await child.exited).toBe(7)
      // Once: nothing more was printed, so nothing began a third time.
      expect((await reader.read()).done).toBe(true)
    })
  },
)

test('a bound that is already set is unchanged', async () => {
  await inFolder(async (folder) => {
    const file = join(folder, 'program.ts')
    writeFileSync(
      file,
      `import { reexecute } from ${module}\nconsole.log(await reexecute(), process.env.BUN_CONFIG_MAX_HTTP_REQUESTS)`,
    )
    const child = Bun.spawn([process.execPath, file], {
      env: bare({ BUN_CONFIG_MAX_HTTP_REQUESTS: '300' }),
      stdout: 'pipe',
    })
    expect(await new Response(child.stdout).text()).toBe('null 300\n')
    expect(await child.exited).toBe(0)
  })
})

test.each([
  [{}, 'localhost,127.0.0.1,::1'],
  [{ NO_PROXY: 'example.test,127.0.0.1' }, 'example.test,127.0.0.1,localhost,::1'],
  [{ no_proxy: 'a,,b' }, 'a,b,localhost,127.0.0.1,::1'],
])('this machine is reached without a proxy: %p', (environment, expected) => {
  expect(directLoopback(environment)).toEqual({ NO_PROXY: expected })
})
