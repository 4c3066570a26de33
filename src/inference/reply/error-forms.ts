import { ingresses } from '../../dialects/index.ts'
import type { FormOf } from '../../http/envelope.ts'
import { VERBS } from '../gemini/path.ts'

/** The suffixes of Google's operations. */
const VERB = new RegExp(`(?::|%3a)(?:${VERBS.join('|')})$`, 'i')

/**
 * The form of errors: that of the API whose route, or unknown path below it, was requested. Several APIs share the path of
 * the model lists, so there a header decides.
 */
export function errorFormOf(basePath: string): FormOf {
  const prefixes = ['/api/v1', '/v1'].map((prefix) => `${basePath}${prefix}`)
  const google = `${basePath}/v1beta`
  return ({ url, headers }) => {
    // A malformed Host header makes the URL invalid.
    const pathname = URL.parse(url)?.pathname ?? ''
    if (isAtOrBelow(pathname, google)) return ingresses.gemini.viewError
    const prefix = prefixes.find((each) => pathname.startsWith(`${each}/`))
    if (prefix === undefined) return undefined
    const path = pathname.slice(prefix.length)
    if (isAtOrBelow(path, '/messages')) return ingresses.messages.viewError
    if (!isAtOrBelow(path, '/models')) return undefined
    if (VERB.test(path) || headers.has('x-goog-api-key')) return ingresses.gemini.viewError
    return headers.has('anthropic-version') ? ingresses.messages.viewError : undefined
  }
}

const isAtOrBelow = (pathname: string, path: string): boolean =>
  pathname === path || pathname.startsWith(`${path}/`)
