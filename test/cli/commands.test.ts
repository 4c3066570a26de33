import { describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { inFolder, sluice } from './process.ts'

/** Nothing listens at port 1 of this machine. */
const NOBODY = 'http://127.0.0.1:1'

describe('the command line', () => {
  test('version, for people and for scripts', async () => {
    expect(await sluice(['version'])).toMatchObject({
      exitCode: 0,
      stdout: `sluice ${manifest.version} (bun ${Bun.version}, ${process.platform}-${process.arch})\n`,
    })
    const { stdout } = await sluice(['version', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ version: manifest.version, bun: Bun.version })
    expect((await sluice(['--json', 'version'])).stdout).toBe(stdout)
  })

  test('alone, with no server: three lines to begin', async () => {
    const { exitCode, stdout } = await sluice([], { env: { SLUICE_URL: NOBODY } })
    expect(exitCode).toBe(0)
    expect(stdout.trim().split('\n')).toHaveLength(3)
    expect(stdout).toContain('sluice serve')
    const json = await sluice(['--json'], { env: { SLUICE_URL: NOBODY } })
    expect(JSON.parse(json.stdout)).toEqual({ url: NOBODY, status: 'absent' })
  })

  const refused: [args: string[], env: Record<string, string>, exitCode: number, says: RegExp][] = [
    [['srve'], {}, 2, /Did you mean serve/],
    [['serve', '--prot', '1'], {}, 2, /unknown option/],
    [['serve', '--port', 'x'], {}, 2, /^sluice: --port must be a whole number/m],
    [['serve'], { SLUICE_PORT: 'x', SLUICE_HOST: '!' }, 2, /SLUICE_HOST [\s\S]*SLUICE_PORT /],
    [['serve', '--config', 'absent.yaml'], {}, 2, /SLUICE_CONFIG: .*absent\.yaml cannot be read/],
    [['keys', 'list'], {}, 4, /SLUICE_KEY is not set/],
    [['keys', 'list'], { SLUICE_KEY: 'k', SLUICE_URL: NOBODY }, 5, /cannot be reached/],
    [['keys', 'list'], { SLUICE_KEY: 'k', SLUICE_URL: 'nowhere' }, 2, /SLUICE_URL must be an http/],
    [['keys', 'create'], {}, 2, /missing required argument/],
    [['keys', 'create', 'a', '--limit', 'much'], { SLUICE_KEY: 'k' }, 2, /--limit must be USD/],
    [['keys', 'create', 'a', '--reset', 'daily'], { SLUICE_KEY: 'k' }, 2, /--reset needs --limit/],
    [
      ['keys', 'create', 'a', '--limit', '1', '--reset', 'hourly'],
      { SLUICE_KEY: 'k' },
      2,
      /--reset must be daily/,
    ],
    [['keys', 'create', 'a', '--expires', 'soon'], { SLUICE_KEY: 'k' }, 2, /--expires must be such as 12h/],
    [['keys', 'disable', 'sk-sl-v1-abc'], { SLUICE_KEY: 'k' }, 2, /on the command line/],
    [['providers', 'list', '--data', '/nowhere/at/all'], {}, 3, /There is no database at \/nowhere/],
    [
      ['providers', 'remove', 'openai', '--data', '/nowhere/at/all'],
      {},
      3,
      /There is no database at \/nowhere/,
    ],
    [['providers', 'add', 'opnai', '--from-env', 'KEY'], { KEY: 'k' }, 3, /Did you mean openai\?/],
    [['providers', 'add', 'sk-proj-0123456789abcdef'], {}, 3, /no provider with the name given/],
    [['providers', 'add', 'openai'], {}, 2, /--from-env NAME, or --key-stdin/],
    [
      ['providers', 'add', 'openai', '--key-stdin', '--from-env', 'KEY'],
      { KEY: 'k' },
      2,
      /--from-env NAME, or/,
    ],
    [['providers', 'add', 'openai', '--from-env', 'sk-proj-0123'], {}, 2, /It is the name, not the value/],
    [['providers', 'add', 'openai', '--key-stdin'], {}, 2, /credential: must not be empty/],
    [
      ['providers', 'add', 'openai', '--from-env', 'KEY', '--base-url', 'x'],
      { KEY: 'k' },
      2,
      /base_url: must be/,
    ],
    [['verify', '/nowhere/at/all'], {}, 3, /There is no database at \/nowhere\/at\/all/],
  ]
  test.each(refused)('%p with %p exits %d', async (args, env, exitCode, says) => {
    const ended = await sluice(args, { env })
    expect(ended.stderr).toMatch(says)
    expect([ended.exitCode, ended.stdout]).toEqual([exitCode, ''])
  })

  test('with --json a failure is JSON too', async () => {
    const { exitCode, stderr } = await sluice(['keys', 'list', '--json'], {
      env: { SLUICE_KEY: 'k', SLUICE_URL: NOBODY },
    })
    expect(exitCode).toBe(5)
    expect(JSON.parse(stderr)).toEqual({
      error: { code: 5, message: expect.stringContaining('cannot be reached') },
    })
  })

  test('a wrong command line is reported like every error, in JSON too', async () => {
    expect(await sluice(['bogus'])).toMatchObject({
      exitCode: 2,
      stderr: "sluice: unknown command 'bogus'\n",
    })
    for (const args of [
      ['bogus', '--json'],
      ['verify', '--json', 'a', 'b'],
      ['keys', 'create', '--json'],
    ]) {
      const { exitCode, stdout, stderr } = await sluice(args)
      expect([exitCode, stdout]).toEqual([2, ''])
      expect(JSON.parse(stderr)).toEqual({ error: { code: 2, message: expect.stringMatching(/^(?!error)/) } })
    }
    expect(await sluice(['keys'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Usage: sluice keys'),
    })
  })

  test('--version is understood', async () => {
    const { stdout } = await sluice(['version'])
    expect(await sluice(['--version'])).toMatchObject({ exitCode: 0, stdout })
  })

  test('entries and settings are wrong together', async () => {
    await inFolder(async (folder) => {
      writeFileSync(
        join(folder, 'sluice.yaml'),
        'colour: red\nproviders:\n  - slug: LAB\n    base_url: nowhere\n',
      )
      const { exitCode, stderr } = await sluice(['serve'], { cwd: folder, env: { SLUICE_PORT: 'x' } })
      expect(exitCode).toBe(2)
      for (const name of ['colour', 'SLUICE_PORT', 'providers[0].slug', 'providers[0].base_url']) {
        expect(stderr).toContain(`sluice: ${name} `)
      }
    })
  })

  test.each([
    'serve',
    'doctor',
    'verify',
    'keys create',
    'keys list',
    'keys disable',
    'keys rotate',
    'providers list',
    'providers add',
    'providers remove',
    'version',
  ])('help for %s has an example and --json', async (command) => {
    const { exitCode, stdout } = await sluice([...command.split(' '), '--help'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain(`Example:\n  sluice ${command}`)
    expect(stdout).toContain('--json')
  })
})

describe('doctor', () => {
  const checks = async (folder: string, env: Record<string, string> = {}) => {
    const { exitCode, stdout } = await sluice(['doctor', '--json'], {
      cwd: folder,
      env: { SLUICE_PORT: '0', ...env },
    })
    const report: { ok: boolean; checks: { check: string; status: string; detail: string }[] } =
      JSON.parse(stdout)
    return { exitCode, ...report, of: (name: string) => report.checks.find(({ check }) => check === name) }
  }

  test('finds nothing wrong in an empty folder, and leaves it empty', async () => {
    await inFolder(async (folder) => {
      const found = await checks(folder)
      expect(found).toMatchObject({ exitCode: 0, ok: true })
      expect(found.of('database')).toMatchObject({ status: 'ok', detail: 'none yet: the first run makes it' })
      expect(found.of('providers')?.detail).toContain('only sluice/demo answers')
      expect([...new Bun.Glob('**').scanSync({ cwd: folder, dot: true, onlyFiles: false })]).toEqual([])
    })
  })

  test('names a damaged database, an open secret key, a taken port and what a provider says', async () => {
    await inFolder(async (folder) => {
      const data = join(folder, 'sluice-data')
      mkdirSync(data, { mode: 0o700 })
      writeFileSync(join(data, 'sluice.db'), 'no database at all'.repeat(100))
      writeFileSync(join(data, 'secret.key'), 'ab'.repeat(32))
      chmodSync(join(data, 'secret.key'), 0o644)
      const server = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: (request) => new Response('', { status: request.headers.has('authorization') ? 401 : 404 }),
      })
      try {
        const found = await checks(folder, {
          SLUICE_PORT: String(server.port),
          OPENAI_API_KEY: 'sk-secret-credential',
          OPENAI_BASE_URL: `http://127.0.0.1:${server.port}/v1`,
          GROQ_API_KEY: 'sk-other-credential',
          GROQ_BASE_URL: `${NOBODY}/v1`,
          AWS_ACCESS_KEY_ID: 'AKIASECRET',
          AWS_SECRET_ACCESS_KEY: 'sk-aws-credential',
          AWS_REGION: 'eu-west-1',
          AWS_BEDROCK_BASE_URL: `http://127.0.0.1:${server.port}`,
        })
        expect(found).toMatchObject({ exitCode: 1, ok: false })
        expect(found.of('database')).toMatchObject({ status: 'problem' })
        expect(found.of('secret key')?.detail).toContain('chmod 600')
        expect(found.of('port')?.detail).toContain('taken by another program')
        expect(found.of('provider openai')?.detail).toBe('answers, but refuses OPENAI_API_KEY (401)')
        expect(found.of('provider amazon-bedrock')).toMatchObject({
          status: 'ok',
          detail: expect.stringMatching(/ms; AWS_ACCESS_KEY_ID is not tried, since a call would cost$/),
        })
        expect(found.of('provider groq')?.detail).toContain('cannot be reached')
        expect(JSON.stringify(found)).not.toMatch(/secret-credential|other-credential|aws-credential/)
      } finally {
        server.stop(true)
        rmSync(join(data, 'sluice.db'))
      }
    })
  })
})
