import { badRequest, type GatewayError } from '../core/errors.ts'

/** The undecoded text between the host and the query. A fragment, which clients must not send, is part of it. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const end = url.indexOf('?')
  if (start < 0 || (end >= 0 && end < start)) return ''
  return url.slice(start, end < 0 ? undefined : end)
}

const HARMLESS = /^[^%#\\]*$/
const CONTROL_OR_BACKSLASH = /%(?:[01][0-9a-f]|7f|5c)/i

/**
 * Rejects a path that two parsers could interpret differently: empty segments, fragments, backslashes, control characters,
 * and dots or slashes that decode to dot segments. The server resolves plain dot segments and backslashes before this
 * check. An encoded slash is part of a name (models have them).
 */
export function pathProblem(path: string): GatewayError | null {
  if (path.includes('//')) return refused('has an empty segment (two slashes in a row)')
  if (HARMLESS.test(path)) return null
  if (path.includes('#')) return refused('has a fragment ("#")')
  if (path.includes('\\') || CONTROL_OR_BACKSLASH.test(path))
    return refused('has a control character or a backslash')
  const decoded = decodedOf(path)
  if (decoded === null) return refused('has a percent sign that encodes no character of UTF-8')
  if (decoded.split('/').some((segment) => segment === '.' || segment === '..'))
    return refused('has an encoded dot segment')
  return null
}

const refused = (what: string): GatewayError => badRequest(`The path of the request ${what}: send it without`)

function decodedOf(path: string): string | null {
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}
