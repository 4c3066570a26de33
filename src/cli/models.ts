import { readFileSync } from 'node:fs'
import { documentFetcher, refreshCatalog } from '../admin/providers/models/service.ts'
import { openCatalogStore } from '../catalog/store.ts'
import { loadConfig } from '../config.ts'
import { GatewayError } from '../core/errors.ts'
import { isDeeperThan, MAX_JSON_DEPTH } from '../core/json-bounds.ts'
import { parseOutboundAllow } from '../net/address.ts'
import { openDataFolder } from '../server/data-folder.ts'
import { download, isRecord, openClient } from './client.ts'
import { changeLines, countOf, priceHistoryTable, summaryOf } from './models-print.ts'
import { CommandError, EXIT, type ExitCode, printJson, type Terminal } from './terminal.ts'

type Options = Readonly<Record<string, unknown>>
type Answer = Readonly<Record<string, unknown>>

/** Refreshes the catalogue, through a server or in a data folder. */
type Ask = (body: Record<string, unknown>) => Promise<Answer>

/** Shows the changes of a catalogue refresh, and applies them after confirmation or with `--yes`. */
export async function refreshModels(options: Options, terminal: Terminal): Promise<number> {
  const asked = await sourceOf(options)
  return withCatalog(options, terminal, async (ask) => {
    const shown = await ask({ ...asked, dry_run: true })
    const isJson = options['json'] === true
    if (!isJson) for (const line of changeLines(shown)) terminal.print(line)
    if (shown['unchanged'] === true || options['dryRun'] === true) {
      if (isJson) printJson(terminal, { data: shown })
      return EXIT.ok
    }
    if (!(await isAgreed(options, terminal))) {
      if (isJson) printJson(terminal, { data: shown })
      terminal.note('Nothing was changed: --yes applies the changes')
      return EXIT.usage
    }
    const done = await ask({ ...asked, digest: shown['digest'] })
    if (isJson) printJson(terminal, { data: done })
    else terminal.print(`Applied: ${summaryOf(done)}`)
    return EXIT.ok
  })
}

/** Shows a model's price history, through the server. */
export async function showHistory(model: string, options: Options, terminal: Terminal): Promise<number> {
  const path = model.split('/').map(encodeURIComponent).join('/')
  const body = await openClient(terminal.environment).call('GET', `/models/${path}/prices${queryOf(options)}`)
  if (options['json'] === true) printJson(terminal, body)
  else terminal.print(priceHistoryTable(body))
  return EXIT.ok
}

const queryOf = ({ at }: Options): string => (at === undefined ? '' : `?at=${encodeURIComponent(String(at))}`)

async function isAgreed(options: Options, terminal: Terminal): Promise<boolean> {
  if (options['yes'] === true) return true
  if (options['json'] === true || terminal.confirm === undefined) return false
  return terminal.confirm('Take these facts over?')
}

/**
 * The source in `--from`: the built-in catalogue, a file or a URL. Read by the command line rather than the server, because
 * the operator refers to this machine's files and network.
 */
async function sourceOf({ from }: Options): Promise<Record<string, unknown>> {
  if (typeof from !== 'string') return {}
  if (from === 'built-in') return { from }
  try {
    const text = /^https?:\/\//i.test(from) ? await download(from, PATIENCE_MS) : readFileSync(from, 'utf8')
    if (isDeeperThan(Buffer.from(text), MAX_JSON_DEPTH))
      throw new Error(`it is nested deeper than ${MAX_JSON_DEPTH} levels`)
    return { document: JSON.parse(text) }
  } catch (error) {
    if (error instanceof CommandError) throw error
    const why =
      error instanceof SyntaxError ? 'it is not JSON' : error instanceof Error ? error.message : error
    throw new CommandError(EXIT.usage, `--from ${from} cannot be read: ${why}`)
  }
}

/** The running server if SLUICE_KEY is set, else the data folder, which no process may hold. */
async function withCatalog(
  options: Options,
  terminal: Terminal,
  work: (ask: Ask) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (terminal.environment['SLUICE_KEY'] && typeof options['data'] !== 'string') {
    const client = openClient(terminal.environment)
    return work(async (body) => dataOf(await client.call('POST', '/models/refresh', body, PATIENCE_MS)))
  }
  const { data, config: file } = options
  const config = await loadConfig({
    environment: terminal.environment,
    flags: {
      ...(typeof data === 'string' ? { data } : {}),
      ...(typeof file === 'string' ? { config: file } : {}),
    },
  })
  const folder = openDataFolder(config.data)
  try {
    const store = openCatalogStore(config.data, (why) => terminal.note(why))
    const deps = {
      catalog: store,
      url: config.modelsUrl,
      now: Date.now,
      fetchDocument: documentFetcher(parseOutboundAllow(config.outboundAllow), config.modelsUrl),
    }
    return await work(async (body) => ({ ...(await refreshCatalog(deps, body)) }))
  } catch (error) {
    if (error instanceof GatewayError) throw new CommandError(EXIT.failed, error.message)
    throw error
  } finally {
    folder.close()
  }
}

const PATIENCE_MS = 90_000

function dataOf(body: unknown): Answer {
  const data = isRecord(body) ? body['data'] : undefined
  if (isRecord(data) && countOf(data, 'added') !== null) return data
  throw new CommandError(EXIT.unreachable, 'What answers at SLUICE_URL cannot refresh a catalogue')
}
