import { textOf } from '../core/json.ts'
import { words } from '../core/words.ts'
import { type Client, isRecord, openClient } from './client.ts'
import { CommandError, EXIT, printJson, type Terminal, table } from './terminal.ts'

type Options = Readonly<Record<string, unknown>>

/** The fields of a key record that the commands read. Other fields are passed on unchanged. */
interface Key {
  readonly hash: string
  readonly name: string
  readonly label: string
  readonly record: Readonly<Record<string, unknown>>
}

export async function createKey(name: string, options: Options, terminal: Terminal): Promise<number> {
  const { limit, reset, expires, workspace } = options
  if (reset !== undefined && limit === undefined) throw new CommandError(EXIT.usage, '--reset needs --limit')
  const made = await openClient(terminal.environment).call('POST', '/keys', {
    name,
    ...(limit === undefined ? {} : { limit: usd(limit) }),
    ...(reset === undefined ? {} : { limit_reset: interval(reset) }),
    ...(expires === undefined ? {} : { expires_at: moment(expires, Date.now()) }),
    ...(workspace === undefined ? {} : { workspace_id: workspace }),
  })
  printMade(made, options, terminal)
  return EXIT.ok
}

export async function listKeys(options: Options, terminal: Terminal): Promise<number> {
  const { workspace } = options
  const keys = await allKeys(
    openClient(terminal.environment),
    typeof workspace === 'string' ? workspace : undefined,
  )
  if (options['json'] === true) {
    printJson(terminal, { data: keys.map((key) => key.record) })
    return EXIT.ok
  }
  const rows = keys.map(({ name, label, hash, record }) => [
    name,
    label,
    hash.slice(0, 12),
    dollars(record['usage']),
    dollars(record['limit']),
    textOf(record['limit_reset']),
    stateOf(record, Date.now()),
  ])
  terminal.print(table(['NAME', 'LABEL', 'HASH', 'USED', 'LIMIT', 'RESET', 'STATE'], rows))
  return EXIT.ok
}

export async function disableKey(reference: string, options: Options, terminal: Terminal): Promise<number> {
  const client = openClient(terminal.environment)
  const key = await findKey(client, reference)
  const changed = await client.call('PATCH', `/keys/${key.hash}`, { disabled: true })
  if (options['json'] === true) printJson(terminal, changed)
  else terminal.print(`Disabled ${key.name} (${key.label}): its next request is rejected`)
  return EXIT.ok
}

/** The new key is printed before the old one is disabled, so that a failure in between loses no working key. */
export async function rotateKey(reference: string, options: Options, terminal: Terminal): Promise<number> {
  const client = openClient(terminal.environment)
  const old = await findKey(client, reference)
  if (old.record['disabled'] === true) {
    throw new CommandError(
      EXIT.failed,
      `${old.name} (${old.label}) is disabled; sluice keys create makes a new one`,
    )
  }
  const made = await client.call('POST', '/keys', settingsOf(old))
  printMade(made, options, terminal)
  try {
    await client.call('PATCH', `/keys/${old.hash}`, { disabled: true })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CommandError(
      EXIT.failed,
      `The successor works, but the old key ${old.hash} is still enabled: ${why}`,
    )
  }
  // On stderr, like all notes about the new key.
  if (options['json'] !== true) terminal.note(`The old key ${old.label} is disabled`)
  return EXIT.ok
}

/** The settings of the new key. The server rejects an expiry in the past. */
function settingsOf({ record }: Key): Record<string, unknown> {
  const names = words(
    'name limit limit_reset include_byok_in_limit rate_limits expires_at workspace_id creator_user_id',
  )
  const kept = names.filter((name) => record[name] !== null && record[name] !== undefined)
  const user = record['external_user']
  return {
    ...Object.fromEntries(kept.map((name) => [name, record[name]])),
    ...(typeof user === 'string' ? { external: { user } } : {}),
  }
}

/** All pages, disabled keys too. */
export async function allKeys(client: Client, workspace?: string): Promise<Key[]> {
  const keys = new Map<string, Key>()
  for (;;) {
    const query = new URLSearchParams({ include_disabled: 'true', offset: String(keys.size) })
    if (workspace !== undefined) query.set('workspace_id', workspace)
    const page = readKeys(await client.call('GET', `/keys?${query}`), client)
    const fresh = page.filter((key) => !keys.has(key.hash))
    if (fresh.length === 0) return [...keys.values()]
    for (const key of fresh) keys.set(key.hash, key)
  }
}

async function findKey(client: Client, reference: string): Promise<Key> {
  if (/^sk-/.test(reference) && !reference.includes('...')) {
    throw new CommandError(
      EXIT.usage,
      'Do not pass a key on the command line, where other users can read it: pass its name, label or hash',
    )
  }
  if (/^[0-9a-f]{64}$/.test(reference)) {
    const body = await client.call('GET', `/keys/${reference}`)
    const key = isRecord(body) ? readKey(body['data']) : undefined
    if (key !== undefined) return key
  }
  const keys = await allKeys(client)
  const exact = keys.filter((key) => [key.hash, key.label, key.name].includes(reference))
  const isPrefix = /^[0-9a-f]{6,63}$/.test(reference)
  const all = exact.length > 0 ? exact : keys.filter((key) => isPrefix && key.hash.startsWith(reference))
  // Rotation leaves disabled keys with the same name: prefer the enabled one.
  const enabled = all.filter((key) => key.record['disabled'] !== true)
  const found = enabled.length === 1 ? enabled : all
  const [first, ...others] = found
  if (first === undefined)
    throw new CommandError(EXIT.notFound, `No key has the name, label or hash ${reference}`)
  if (others.length === 0) return first
  const hashes = found.map((key) => key.hash.slice(0, 12)).join(', ')
  throw new CommandError(
    EXIT.usage,
    `${found.length} keys are called ${reference}: give the hash of one (${hashes})`,
  )
}

function readKeys(body: unknown, { root }: Client): Key[] {
  const data = isRecord(body) ? body['data'] : undefined
  if (!Array.isArray(data))
    throw new CommandError(EXIT.unreachable, `What answers at ${root} is not a Sluice: set SLUICE_URL`)
  return data.flatMap((record: unknown) => readKey(record) ?? [])
}

function readKey(record: unknown): Key | undefined {
  if (!isRecord(record)) return undefined
  const { hash, name, label } = record
  if (typeof hash !== 'string' || typeof name !== 'string' || typeof label !== 'string') return undefined
  return { hash, name, label, record }
}

function printMade(made: unknown, options: Options, terminal: Terminal): void {
  if (options['json'] === true) {
    printJson(terminal, made)
    return
  }
  const key = isRecord(made) ? readKey(made['data']) : undefined
  if (!isRecord(made) || typeof made['key'] !== 'string' || key === undefined) {
    throw new CommandError(EXIT.failed, 'The server made a key but did not show it')
  }
  terminal.print(made['key'])
  const { record } = key
  const limit =
    typeof record['limit'] === 'number'
      ? `limit ${dollars(record['limit'])} ${textOf(record['limit_reset'])}`
      : 'no limit'
  // On stderr, so that `$(sluice keys create …)` is only the key.
  terminal.note(
    `Created ${key.name}, ${limit.trimEnd()}, hash ${key.hash.slice(0, 12)}. The key is shown only once`,
  )
}

function usd(value: unknown): number {
  const text = String(value).trim().replace(/^\$/, '')
  if (/^\d{1,9}(\.\d{1,9})?$/.test(text)) return Number(text)
  throw new CommandError(EXIT.usage, `--limit must be USD such as 5 or 0.10, not ${text}`)
}

function interval(value: unknown): string {
  if (value === 'daily' || value === 'weekly' || value === 'monthly') return value
  throw new CommandError(EXIT.usage, `--reset must be daily, weekly or monthly, not ${value}`)
}

const UNIT_MS = { h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Parses `90d` or a UTC time; returns ISO 8601. */
function moment(value: unknown, now: number): string {
  const text = String(value).trim()
  const [, amount, unit] = /^(\d{1,5})([hdw])$/.exec(text) ?? []
  if (unit === 'h' || unit === 'd' || unit === 'w')
    return new Date(now + Number(amount) * UNIT_MS[unit]).toISOString()
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/.test(text) && !Number.isNaN(Date.parse(text))
  if (isTime) return text
  throw new CommandError(
    EXIT.usage,
    `--expires must be such as 12h, 90d, 8w or 2027-01-31T00:00:00Z, not ${text}`,
  )
}

const dollars = (value: unknown): string =>
  typeof value === 'number' ? `$${value.toFixed(9).replace(/(\.\d\d\d{0,7}?)0{1,7}$/, '$1')}` : '-'

function stateOf(record: Readonly<Record<string, unknown>>, now: number): string {
  if (record['disabled'] === true) return 'disabled'
  const expires = record['expires_at']
  return typeof expires === 'string' && Date.parse(expires) <= now ? 'expired' : 'enabled'
}
