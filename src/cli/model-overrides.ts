import { isRecord, openClient } from './client.ts'
import { CommandError, EXIT, printJson, type Terminal } from './terminal.ts'

type Options = Readonly<Record<string, unknown>>

/** Sets a model override through the server, with the fields of a `models:` entry in the settings. */
export async function setModel(model: string, options: Options, terminal: Terminal): Promise<number> {
  const entry = { id: model, ...entryOf(options) }
  const saved = await openClient(terminal.environment).call('PUT', '/models/overrides', entry)
  if (options['json'] === true) printJson(terminal, saved)
  else terminal.print(`From the next request on: ${JSON.stringify(entry)}`)
  const data = isRecord(saved) && isRecord(saved['data']) ? saved['data'] : {}
  if (Array.isArray(data['warnings']))
    for (const warning of data['warnings']) terminal.note(`Look again: ${warning}`)
  return EXIT.ok
}

export async function unsetModel(model: string, options: Options, terminal: Terminal): Promise<number> {
  const client = openClient(terminal.environment)
  const body = await client.call('GET', '/models/overrides')
  const rows: unknown[] = isRecord(body) && Array.isArray(body['data']) ? body['data'] : []
  const { provider } = options
  const found = rows.filter(isRecord).find(({ entry, override_id: id }) => {
    return (
      typeof id === 'string' && isRecord(entry) && entry['id'] === model && entry['provider'] === provider
    )
  })
  if (found === undefined) {
    const where = typeof provider === 'string' ? ` at ${provider}` : ''
    throw new CommandError(
      EXIT.notFound,
      `Nothing is stored of ${model}${where}; entries of sluice.yaml stay`,
    )
  }
  const removed = await client.call('DELETE', `/models/overrides/${found['override_id']}`)
  if (options['json'] === true) printJson(terminal, removed)
  else terminal.print(`The override of ${model} is removed: the catalogue applies again`)
  return EXIT.ok
}

function entryOf(options: Options): Record<string, unknown> {
  const { provider, price, alias, name, hide, context, zdr, regions, expires } = options
  const entry = {
    ...(provider === undefined ? {} : { provider }),
    ...(price === undefined ? {} : { pricing: pricesOf(String(price)) }),
    ...(alias === undefined ? {} : { aliases: wordsOf(String(alias)) }),
    ...(name === undefined ? {} : { name }),
    ...(hide === true ? { hidden: true } : {}),
    ...(context === undefined ? {} : { context_length: Number(context) }),
    ...(zdr === undefined ? {} : { zdr: yesOrNo(zdr) }),
    ...(regions === undefined ? {} : { regions: wordsOf(String(regions)) }),
    ...(expires === undefined ? {} : { expiration_date: expires }),
  }
  const isEmpty = Object.keys(entry).every((key) => key === 'provider')
  if (isEmpty) throw new CommandError(EXIT.usage, 'Say something of the model, such as --price or --hide')
  return entry
}

const wordsOf = (list: string): string[] =>
  list
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

/** `prompt=0.000002,completion=0.000008`; the server rejects a wrong price. */
function pricesOf(list: string): Record<string, string> {
  const prices: Record<string, string> = {}
  for (const pair of wordsOf(list)) {
    const [bucket = '', price, ...rest] = pair.split('=').map((part) => part.trim())
    if (bucket === '' || price === undefined || rest.length > 0)
      throw new CommandError(
        EXIT.usage,
        `--price must be such as prompt=0.000002,completion=0.000008, not ${list}`,
      )
    prices[bucket] = price
  }
  return prices
}

function yesOrNo(value: unknown): boolean {
  if (value === 'true' || value === 'false') return value === 'true'
  throw new CommandError(EXIT.usage, `--zdr must be true or false, not ${value}`)
}
