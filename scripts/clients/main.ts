/**
 * Runs the clients that people use against dist/sluice, with scripted providers on loopback, and prints a table.
 * Clients are installed in a cache outside the repository: ${XDG_CACHE_HOME:-~/.cache}/sluice-clients.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { agents } from './agents.ts'
import { checkAgent } from './check-agent.ts'
import { checkLibrary } from './check-library.ts'
import { killStragglers } from './child.ts'
import { AGENT_CHECKS, type Client, LIBRARY_CHECKS } from './client.ts'
import { frameworks } from './frameworks.ts'
import { build, startGateway } from './gateway.ts'
import { cache, install, versionOf } from './install.ts'
import { libraries } from './libraries.ts'
import { startProvider } from './provider.ts'
import { type Recorder, startRecorder } from './recorder.ts'
import { markdown, type Row } from './table.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    list: { type: 'boolean' },
    update: { type: 'boolean' },
    'no-build': { type: 'boolean' },
    out: { type: 'string' },
    record: { type: 'string' },
    help: { type: 'boolean' },
  },
})

const HELP = `bun run test:clients [--only NAME]… [--list] [--update] [--no-build] [--out FILE] [--record FOLDER]
  --only NAME  clients whose name or folder contains this; may be repeated
  --list       print the clients and their versions, and stop
  --update     install cached clients again
  --no-build   use the dist/sluice that is there
  --out FILE   write the table to this file too
  --record FOLDER  write what each client sends and receives, with routing metadata, to files there
Clients are installed in ${cache}.`

const all: readonly Client[] = [...agents, ...libraries, ...frameworks]
const isChosen = ({ name, folder }: Client): boolean =>
  !values.only || values.only.some((part) => `${name} ${folder}`.toLowerCase().includes(part.toLowerCase()))

interface Result {
  readonly client: Client
  readonly rows: readonly Row[]
  readonly missing?: string
}

async function runAll(clients: readonly Client[]): Promise<Result[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-clients-'))
  const provider = startProvider()
  const results: Result[] = []
  try {
    const gateway = await startGateway(join(folder, 'gateway'), { providers: provider.entries })
    try {
      const recorder: Recorder | null = values.record ? startRecorder(gateway.url, values.record) : null
      for (const client of clients) {
        recorder?.begin(client.name)
        const result = await runOne(client, { url: recorder?.url ?? gateway.url, provider, folder })
        results.push(result)
        print(result)
      }
      await recorder?.stop()
    } finally {
      await gateway.stop()
    }
  } finally {
    killStragglers()
    await provider.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return results
}

async function runOne(client: Client, run: Parameters<typeof checkLibrary>[1]): Promise<Result> {
  try {
    await install(client, values.update ?? false)
  } catch (error) {
    return { client, rows: [], missing: error instanceof Error ? error.message : String(error) }
  }
  const rows = client.kind === 'library' ? await checkLibrary(client, run) : await checkAgent(client, run)
  return { client, rows }
}

function print({ client, rows, missing }: Result): void {
  if (missing !== undefined) console.error(`${client.name}: not installed: ${missing}`)
  for (const { client: name, way, cells, faults } of rows) {
    const line = Object.entries(cells).map(([check, cell]) => `${check}: ${cell}`)
    console.error(`${name}, ${way}: ${line.join(' · ')}`)
    for (const fault of faults) console.error(`    ${fault.slice(0, 1500)}`)
  }
}

function tableOf(results: readonly Result[]): string {
  const rowsOf = (kind: Client['kind']): Row[] =>
    results.flatMap(({ client, rows }) => (client.kind === kind ? rows : []))
  const missing = results.filter((result) => result.missing !== undefined)
  const parts = [
    markdown(rowsOf('agent'), AGENT_CHECKS),
    markdown(rowsOf('library'), LIBRARY_CHECKS),
    ...missing.map(
      ({ client, missing: why }) => `Not installed: ${client.name} ${versionOf(client.source)}: ${why}`,
    ),
  ]
  return `${parts.join('\n\n')}\n`
}

async function main(): Promise<number> {
  const chosen = all.filter(isChosen)
  if (values.help) {
    console.log(HELP)
    return 0
  }
  if (values.list) {
    for (const { kind, name, source } of chosen) console.log(`${kind.padEnd(8)} ${name} ${versionOf(source)}`)
    return 0
  }
  if (chosen.length === 0) {
    console.error('No client has such a name. --list prints them.')
    return 2
  }
  if (!values['no-build']) await build()
  const results = await runAll(chosen)
  const table = tableOf(results)
  console.log(table)
  if (values.out) await Bun.write(values.out, table)
  const hasFault = results.some(
    ({ rows, missing }) => missing !== undefined || rows.some(({ faults }) => faults.length > 0),
  )
  return hasFault ? 1 : 0
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    killStragglers()
    process.exit(1)
  })
}
process.exitCode = await main()
