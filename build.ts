/**
 * `bun run build` makes dist/sluice for this machine; `--all` the five that are released, `--target <name>` some of
 * them, `--out <folder>` elsewhere. Foreign targets need Bun's runtime for them, which Bun downloads once and keeps.
 */
import { createHash } from 'node:crypto'
import { renameSync, rmSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { version } from './src/version.ts'

const targets = {
  'linux-x64': 'bun-linux-x64',
  'linux-arm64': 'bun-linux-arm64',
  'darwin-x64': 'bun-darwin-x64',
  'darwin-arm64': 'bun-darwin-arm64',
  'windows-x64': 'bun-windows-x64',
} as const satisfies Record<string, Bun.Build.CompileTarget>
type TargetName = keyof typeof targets

const names = Object.keys(targets).filter(isTarget)
const ownName = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

function isTarget(name: string): name is TargetName {
  return name in targets
}

interface Job {
  readonly outfile: string
  /** Undefined: this machine's own runtime. */
  readonly target: Bun.Build.CompileTarget | undefined
}

function jobsOf(args: string[]): Job[] {
  const { values } = parseArgs({
    args,
    options: {
      all: { type: 'boolean', default: false },
      target: { type: 'string', multiple: true, default: [] },
      out: { type: 'string', default: join(import.meta.dir, 'dist') },
    },
  })
  const unknown = values.target.filter((name) => !isTarget(name))
  if (unknown.length > 0)
    throw new Error(`${unknown.join(', ')}: no such target; there are ${names.join(', ')}`)
  const wanted = values.all ? names : values.target.filter(isTarget)
  const folder = resolve(values.out)
  if (wanted.length === 0) {
    return [
      { outfile: join(folder, process.platform === 'win32' ? 'sluice.exe' : 'sluice'), target: undefined },
    ]
  }
  return wanted.map((name) => ({
    outfile: join(folder, `sluice-${name}${name.startsWith('windows') ? '.exe' : ''}`),
    target: name === ownName ? undefined : targets[name],
  }))
}

/**
 * Not minified: it saves 0.5 of 110 MB and has broken the framework before. Byte code halves the start; split, so that
 * what is imported on use is neither read nor held before. Nothing is loaded from the folder where the binary runs: a
 * bunfig.toml there could run code, a .env change settings.
 */
async function compile({ outfile, target }: Job): Promise<void> {
  // Bun lays source maps, which are in the binary too, beside what it makes.
  const folder = `${outfile}.build`
  try {
    await bundle(join(folder, basename(outfile)), target)
    renameSync(join(folder, basename(outfile)), outfile)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What runs in a thread of its own is an entry point; its name in the executable is its path in src. */
const workers = [
  'delivery',
  'tools/web-fetch',
  'tools/documents',
  'plugins/context-compression',
  'files/search',
].map((folder) => join(import.meta.dir, 'src', folder, 'worker.ts'))

async function bundle(outfile: string, target: Job['target']): Promise<void> {
  const result = await Bun.build({
    entrypoints: [join(import.meta.dir, 'src/main.ts'), ...workers],
    target: 'bun',
    format: 'esm',
    bytecode: true,
    minify: false,
    sourcemap: 'linked',
    splitting: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    compile: {
      outfile,
      ...(target === undefined ? {} : { target }),
      autoloadBunfig: false,
      autoloadDotenv: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  })
  if (!result.success) throw new AggregateError(result.logs, 'the build failed')
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of Bun.file(path).stream()) hash.update(chunk)
  return hash.digest('hex')
}

/** One line for each binary; false when it could not be made. */
async function make(job: Job): Promise<boolean> {
  const started = performance.now()
  rmSync(job.outfile, { force: true })
  try {
    await compile(job)
  } catch (error) {
    const causes = error instanceof AggregateError ? error.errors : [error]
    const reasons = causes.map((cause) => (cause instanceof Error ? cause.message : String(cause)))
    console.error(`FAILED  ${job.outfile}: ${reasons.join('; ')}`)
    return false
  }
  const size = (statSync(job.outfile).size / 1_000_000).toFixed(1)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  const isForeign = job.target !== undefined
  const note = isForeign ? '  built, not run' : ''
  console.log(`${await sha256(job.outfile)}  ${job.outfile}  ${size} MB  ${seconds} s${note}`)
  return true
}

try {
  const jobs = jobsOf(process.argv.slice(2))
  console.log(`sluice ${version}, bun ${Bun.version}: sha256, file, size, time`)
  let failures = 0
  // One after the other: each holds a runtime of 100 MB in memory.
  for (const job of jobs) if (!(await make(job))) failures++
  process.exitCode = failures === 0 ? 0 : 1
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
