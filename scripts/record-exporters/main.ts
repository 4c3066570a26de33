/**
 * Records what the vendors' own clients send for one generation, test/exporters/records.ts, into
 * test/fixtures/exporters/<kind>/sdk.json. Clients are installed in a cache outside the repository:
 * ${XDG_CACHE_HOME:-~/.cache}/sluice-exporters. `--only <kind>` records one of them.
 */
import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { Glob } from 'bun'
import { fullRecord } from '../../test/exporters/records.ts'
import { type Recorded, startRecorder } from './recorder.ts'

const { values } = parseArgs({ options: { only: { type: 'string' } } })

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice-exporters')
const here = import.meta.dir
const fixtures = join(here, '../../test/fixtures/exporters')
const LIMIT_MS = 60_000

/** Ports and times of a recording differ each time, and say nothing. */
async function record(kind: string): Promise<readonly Recorded[]> {
  const recorder = startRecorder()
  try {
    const program = Bun.spawn(['node', join('programs', `${kind}.mjs`)], {
      cwd: cache,
      env: {
        ...process.env,
        SLUICE_RECORD: join(cache, 'record.json'),
        SLUICE_RECORDER: recorder.url,
        DD_TRACE_AGENT_URL: recorder.url,
        DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false',
      },
      stdout: 'inherit',
      stderr: 'inherit',
      timeout: LIMIT_MS,
    })
    const code = await program.exited
    if (code !== 0) throw new Error(`the client of ${kind} ended with ${code}`)
    return recorder.recorded()
  } finally {
    await recorder.stop()
  }
}

async function install(): Promise<void> {
  mkdirSync(cache, { recursive: true })
  const wanted = await Bun.file(join(here, 'package.json')).text()
  const installed = join(cache, 'package.json')
  cpSync(join(here, 'programs'), join(cache, 'programs'), { recursive: true })
  await Bun.write(join(cache, 'record.json'), JSON.stringify(fullRecord()))
  if (existsSync(join(cache, 'node_modules')) && (await Bun.file(installed).text()) === wanted) return
  await Bun.write(installed, wanted)
  const npm = Bun.spawn(['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], {
    cwd: cache,
    stdout: 'inherit',
    stderr: 'inherit',
  })
  if ((await npm.exited) !== 0) throw new Error('npm could not install the clients')
}

await install()
const kinds = [...new Glob('*.mjs').scanSync(join(here, 'programs'))]
  .map((file) => basename(file, '.mjs'))
  .filter((kind) => kind !== 'generation' && (values.only === undefined || kind === values.only))
  .sort()
for (const kind of kinds) {
  const calls = await record(kind)
  if (calls.length === 0) throw new Error(`the client of ${kind} sent nothing`)
  await Bun.write(join(fixtures, kind, 'sdk.json'), `${JSON.stringify(calls, null, 2)}\n`)
  console.log(`${kind}: ${calls.map(({ method, path }) => `${method} ${path.split('?')[0]}`).join(', ')}`)
}
