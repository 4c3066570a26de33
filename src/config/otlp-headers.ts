import type { Read } from './readers.ts'

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/
const VALUE = /^[\x20-\x7e]{0,4096}$/

/**
 * `name=value` pairs as `OTEL_EXPORTER_OTLP_HEADERS` has them: separated by commas, values percent-encoded; a map in the
 * file. Values are secrets, so messages never repeat them.
 */
export const otlpHeaders: Read<Readonly<Record<string, string>>> = (raw) => {
  const pairs = typeof raw === 'string' ? raw.split(',').flatMap(pairOf) : entriesOf(raw)
  const headers: Record<string, string> = {}
  for (const [name, value] of pairs) {
    if (!NAME.test(name) || typeof value !== 'string' || !VALUE.test(value)) throw wrong()
    headers[name.toLowerCase()] = value
  }
  return headers
}

function pairOf(pair: string): [string, string][] {
  if (pair.trim() === '') return []
  const at = pair.indexOf('=')
  if (at < 1) throw wrong()
  try {
    return [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]]
  } catch {
    throw wrong()
  }
}

function entriesOf(raw: unknown): [string, unknown][] {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) throw wrong()
  return Object.entries(raw)
}

const wrong = (): RangeError =>
  new RangeError(
    'must be pairs of header and value such as "api-key=secret,x-team=a", with values of visible ASCII characters, percent-encoded',
  )
