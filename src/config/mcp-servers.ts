import { isAbsolute } from 'node:path'
import { isObject, isString, type JsonObject, textsIn } from '../core/json.ts'
import type { McpServer } from '../core/mcp.ts'
import type { ConfigProblem } from '../core/problem.ts'
import { expandVariables } from '../providers/settings.ts'

const MOST_SERVERS = 32
const LABEL = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
const HEADER_VALUE = /^[!-~](?:[ -~]{0,7998}[!-~])?$/
const OWN_HEADERS: ReadonlySet<string> = new Set(['content-type', 'accept', 'host', 'content-length'])
const FIELDS: ReadonlySet<string> = new Set([
  'label',
  'url',
  'headers',
  'allowed_tools',
  'command',
  'args',
  'env',
  'cwd',
])
/** What a process gets of the gateway's environment; everything else is listed in `env`. */
const INHERITED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'TMPDIR', 'SHELL', 'TERM']
/** Names of variables whose values are taken out of what the server says. */
const SECRET = /key|token|secret|passw|credential|auth/i
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/

type Environment = Readonly<Record<string, string | undefined>>

/** Reads `mcp_servers:` of the settings file. `${NAME}` in any string is replaced from the environment. */
export function readMcpServers(
  value: unknown,
  environment: Environment,
): { servers: McpServer[]; problems: ConfigProblem[] } {
  const problems: ConfigProblem[] = []
  const expanded = expandVariables(value ?? [], environment, 'mcp_servers', problems)
  const entries = Array.isArray(expanded) ? expanded : []
  if (entries.length > MOST_SERVERS)
    problems.push({
      path: `mcp_servers[${MOST_SERVERS}]`,
      message: `is one more than ${MOST_SERVERS} servers`,
    })
  const servers = entries.map((entry: unknown, i): McpServer => {
    const place = `mcp_servers[${i}]`
    if (isObject(entry)) return serverOf(entry, place, environment, problems)
    problems.push({ path: place, message: 'must be an entry with label and url' })
    return { label: '', url: '', headers: {}, allowedTools: null }
  })
  for (const [i, { label, url }] of servers.entries()) {
    const path = `mcp_servers[${i}]`
    if (label !== '' && servers.findIndex((each) => each.label === label) < i)
      problems.push({ path: `${path}.label`, message: `"${label}" is taken by another entry` })
    if (url !== '' && servers.findIndex((each) => each.url === url) < i)
      problems.push({ path: `${path}.url`, message: 'is that of another entry' })
  }
  return { servers, problems }
}

function serverOf(
  entry: JsonObject,
  place: string,
  environment: Environment,
  problems: ConfigProblem[],
): McpServer {
  const reject = (field: string, message: string): void => {
    problems.push({ path: `${place}.${field}`, message })
  }
  const { label, url, headers = {}, allowed_tools = null } = entry
  for (const field of Object.keys(entry).filter((name) => !FIELDS.has(name)))
    reject(field.slice(0, 60), `is not a field of an MCP server; it has ${[...FIELDS].join(', ')}`)
  const isLabel = isString(label) && LABEL.test(label)
  if (!isLabel) reject('label', 'must be a letter and up to 31 letters, digits, "_" or "-"')
  const shared = { label: isLabel ? label : '', allowedTools: allowedIn(allowed_tools, reject) }
  if (entry['command'] !== undefined) {
    for (const name of ['url', 'headers'])
      if (entry[name] !== undefined) reject(name, 'is not for a server with a command')
    return { ...shared, url: '', headers: {}, process: processOf(entry, environment, reject) }
  }
  for (const name of ['args', 'env', 'cwd'])
    if (entry[name] !== undefined) reject(name, 'is only for a server with a command')
  const address = isString(url) ? URL.parse(url.trim()) : null
  const isAddress =
    address !== null && /^https?:$/.test(address.protocol) && address.username + address.password === ''
  // An address may hold a secret: it is not repeated.
  if (!isAddress) reject('url', 'must be an http or https address without user or password')
  return {
    ...shared,
    url: isAddress ? address.href : '',
    headers: headersOf(headers, reject),
  }
}

type Reject = (field: string, message: string) => void

function processOf(
  { command, args = [], env = {}, cwd = null }: JsonObject,
  environment: Environment,
  reject: Reject,
) {
  const isCommand = isString(command) && command.trim() !== '' && !command.includes('\0')
  if (!isCommand) reject('command', 'must be a program, without its arguments')
  const isList = Array.isArray(args) && args.length <= 100 && args.every(isString)
  if (!isList) reject('args', 'must be a list of texts')
  const isFolder = cwd === null || (isString(cwd) && isAbsolute(cwd))
  if (!isFolder) reject('cwd', 'must be the absolute path of a folder')
  const own: Record<string, string> = {}
  if (!isObject(env)) reject('env', 'must be a map of names and texts')
  for (const [name, value] of Object.entries(isObject(env) ? env : {})) {
    if (VARIABLE.test(name) && isString(value) && !value.includes('\0')) own[name] = value
    else reject('env', 'must have names of variables, with texts')
  }
  const inherited = INHERITED.flatMap((name) => {
    const value = environment[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    command: [isCommand ? command : '', ...(isList ? textsIn(args) : [])],
    env: { ...Object.fromEntries(inherited), ...own },
    secrets: Object.keys(own).flatMap((name) => (SECRET.test(name) ? [own[name] ?? ''] : [])),
    folder: isFolder && isString(cwd) ? cwd : null,
  }
}

function headersOf(headers: unknown, reject: Reject): Record<string, string> {
  const read: Record<string, string> = {}
  if (!isObject(headers)) reject('headers', 'must be a map of names and texts')
  for (const [name, value] of Object.entries(isObject(headers) ? headers : {})) {
    const isFree = HEADER.test(name) && !OWN_HEADERS.has(name.toLowerCase()) && !/^mcp-/i.test(name)
    if (!isFree) reject('headers', 'has a name that no header has, or one that the protocol sets')
    else if (!isString(value) || !HEADER_VALUE.test(value))
      reject(`headers.${name}`, 'must be a text that a header can hold')
    else read[name] = value
  }
  return read
}

function allowedIn(allowed: unknown, reject: Reject): readonly string[] | null {
  if (allowed === null) return null
  if (Array.isArray(allowed) && allowed.length > 0 && allowed.every(isString)) return textsIn(allowed)
  reject('allowed_tools', 'must be a list of names of tools')
  return null
}
