import { asText, isObject, parseJson } from '../core/json.ts'

const LEVELS: Readonly<Record<string, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO ',
  40: 'WARN ',
  50: 'ERROR',
  60: 'FATAL',
}
/** A value that reads the same with and without quotes. */
const BARE = /^[\w./:@+,%*~-]+$/
// Control characters of both ranges, separators of lines, and marks of direction, which a terminal would interpret.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
/** Those of them that `JSON.stringify` writes as they are. */
const UNESCAPED = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** JSON lines in which no string can end a line, or move a terminal's cursor. */
export const logJson = (lines: string): string =>
  lines.replace(UNESCAPED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** A JSON line of the log as a line for people: time, level, message, then all further fields as `name=value`. */
export function logText(line: string): string {
  const entry = parseJson(line)
  if (!isObject(entry)) return line
  const { level, time, msg, err, ...fields } = entry
  const head = `${clockOf(time)} ${LEVELS[String(level)] ?? String(level)} `
  const { text, rest } = msg === 'request' ? requestOf(fields) : { text: asText(msg) ?? '', rest: fields }
  const members = Object.entries(rest).map(([name, value]) => `${name}=${shown(value)}`)
  return `${[head + plain(text), ...members].join('  ')}\n${errorOf(err)}`
}

/** `12:30:59` in local time. */
function clockOf(time: unknown): string {
  const date = new Date(asText(time) ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? '--:--:--' : date.toTimeString().slice(0, 8)
}

function requestOf({ method, path, status, total_ms, ...rest }: Readonly<Record<string, unknown>>) {
  const target = method === undefined ? 'request' : `${String(method)} ${String(path)}`
  return { text: `${target} ${String(status)} in ${String(total_ms)} ms`, rest }
}

function errorOf(err: unknown): string {
  if (!isObject(err)) return ''
  const { type, stack, ...rest } = err
  const members = Object.entries(rest).map(([name, value]) => `${name}=${shown(value)}`)
  const lines = asText(stack)?.split('\n') ?? [[String(type), ...members].join('  ')]
  return lines.map((line) => `         ${plain(line)}\n`).join('')
}

function shown(value: unknown): string {
  if (typeof value === 'string') return BARE.test(value) ? value : plain(JSON.stringify(value))
  if (Array.isArray(value)) return value.map(shown).join(',')
  return plain(JSON.stringify(value))
}

const plain = (text: string): string => text.replace(CONTROL, '?')
