import { checkCredential, findVendor } from '../admin/providers/credential-fields.ts'
import {
  type Credential,
  listCredentials,
  removeCredential,
  storeCredential,
} from '../admin/providers/service.ts'
import type { Config } from '../config.ts'
import { GatewayError } from '../core/errors.ts'
import type { Database } from '../db/database.ts'
import { openSealer } from '../db/seal.ts'
import { environmentProviders } from '../providers/environment.ts'
import { openDataFolder } from '../server/data-folder.ts'
import { isRecord } from './client.ts'
import { configOf, type Options, openKnownFolder, within } from './local.ts'
import { CommandError, EXIT, type ExitCode, printJson, type Terminal, table } from './terminal.ts'

/** Encrypts a credential and stores it in the data folder, which is created if it is missing. */
export async function addProvider(slug: string, options: Options, terminal: Terminal): Promise<number> {
  return answering(async () => {
    const { baseUrl } = options
    findVendor(slug)
    const config = await configOf(options, terminal)
    const fields = {
      provider: slug,
      secret: await readSecret(options, terminal),
      baseUrl: typeof baseUrl === 'string' ? baseUrl : undefined,
    }
    // Reject a wrong credential before a folder is created.
    checkCredential(fields)
    const stored = await within(openDataFolder(config.data), ({ database }) => {
      const sealer = openSealer(database, config.data, config.secretKey ?? undefined)
      return storeCredential({ database, sealer, now: Date.now }, fields)
    })
    const above = outranking(stored.provider, config)
    if (options['json'] === true) {
      printJson(terminal, { data: { ...stored, outranked_by: above } })
      return
    }
    terminal.print(
      `Stored ${stored.label} for ${stored.name} in ${config.data}: used from the next start on. Its id is ${stored.id}`,
    )
    if (above !== null) terminal.note(`A server that finds ${above} uses that instead`)
  })
}

/** Lists stored credentials by label. The credentials themselves are never shown. */
export async function listProviders(options: Options, terminal: Terminal): Promise<number> {
  return answering(async () => {
    const config = await configOf(options, terminal)
    const stored = await within(openKnownFolder(config), ({ database }) => listCredentials(database))
    const rows = stored.map((one) => ({ ...one, outranked_by: outranking(one.provider, config) }))
    if (options['json'] === true) {
      printJson(terminal, { data: rows })
      return
    }
    if (rows.length === 0) {
      terminal.print(
        'No credential is stored. sluice doctor shows those of the environment and of sluice.yaml',
      )
      return
    }
    const cells = rows.map((row) => [
      row.provider,
      row.label,
      row.id,
      row.base_url ?? '-',
      row.disabled
        ? 'disabled'
        : row.outranked_by === null
          ? 'enabled'
          : `not used: ${row.outranked_by} is set`,
    ])
    terminal.print(table(['PROVIDER', 'LABEL', 'ID', 'BASE URL', 'STATE'], cells))
  })
}

export async function removeProvider(
  reference: string,
  options: Options,
  terminal: Terminal,
): Promise<number> {
  return answering(async () => {
    const config = await configOf(options, terminal)
    const removed = await within(openKnownFolder(config), async ({ database }) => {
      const found = await findStored(database, reference)
      await removeCredential(database, found.id)
      return found
    })
    if (options['json'] === true) printJson(terminal, { data: { ...removed, deleted: true } })
    else terminal.print(`Removed ${removed.label} of ${removed.name}`)
  })
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

async function findStored(database: Database, reference: string): Promise<Credential> {
  const stored = await listCredentials(database)
  const found = stored.filter(({ id, provider }) => id === reference.toLowerCase() || provider === reference)
  const [first, ...others] = found
  if (first === undefined) {
    if (UUID.test(reference))
      throw new CommandError(EXIT.notFound, 'There is no stored credential with this id')
    const { slug } = findVendor(reference)
    throw new CommandError(EXIT.notFound, `No credential of ${slug} is stored`)
  }
  if (others.length === 0) return first
  const ids = found.map(({ id, label }) => `${id} (${label})`).join(', ')
  throw new CommandError(
    EXIT.usage,
    `${found.length} credentials of ${first.provider} are stored: give the id of one, ${ids}`,
  )
}

/** Reads the secret from a source that other users of the machine cannot read. */
async function readSecret(options: Options, terminal: Terminal): Promise<string> {
  const { fromEnv, keyStdin } = options
  if ((typeof fromEnv === 'string') === (keyStdin === true)) {
    throw new CommandError(
      EXIT.usage,
      'Say where the credential is: --from-env NAME, or --key-stdin; never on the command line itself',
    )
  }
  if (typeof fromEnv !== 'string') return terminal.input()
  const secret = terminal.environment[fromEnv]?.trim() ?? ''
  // The name may be a credential in the wrong place.
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(fromEnv) || secret === '')
    throw new CommandError(
      EXIT.usage,
      '--from-env: no variable of this name is set. It is the name, not the value',
    )
  return secret
}

/** The source that a server with these settings uses instead of the stored credentials of a provider; null: none. */
function outranking(slug: string, { providers, environment, firstByteTimeoutMs }: Config): string | null {
  if (providers.some((entry) => isRecord(entry) && entry['slug'] === slug))
    return `the entry ${slug} of sluice.yaml`
  // Nothing is called: the clocks do not matter.
  const [firstByteMs, betweenBytesMs, totalMs] = [firstByteTimeoutMs, firstByteTimeoutMs, firstByteTimeoutMs]
  const defaults = { timeouts: { firstByteMs, betweenBytesMs, totalMs }, maxInFlight: 1 }
  const found = environmentProviders(environment, defaults).providers.find((one) => one.slug === slug)
  return found?.credentials[0]?.id ?? null
}

const codes: Readonly<Record<number, ExitCode>> = { 400: EXIT.usage, 404: EXIT.notFound }

async function answering(work: () => Promise<void>): Promise<number> {
  try {
    await work()
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    throw new CommandError(codes[error.status] ?? EXIT.failed, error.message)
  }
}
