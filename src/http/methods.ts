/** The methods of a path, to distinguish a wrong method from an unknown path. */
import { objectOf } from './json.ts'

export interface Route {
  readonly method: string
  readonly path: string
  readonly hooks?: unknown
}

/** How specifically a route matches a path: exactly, with parameters, by a wildcard with a suffix, or by any wildcard. */
const EXACT = 3
const WITH_PARAMETERS = 2
const WITH_END = 1
const ANY = 0

/**
 * The methods of the routes that match the path most specifically, sorted; empty: no route has this path. `path` is
 * undecoded.
 */
export function allowedMethods(routes: readonly Route[], path: string): string[] {
  const segments = segmentsOf(path)
  const fitting = routes.map((route) => ({ route, fit: fitOf(route, path, segments) }))
  const closest = Math.max(...fitting.map(({ fit }) => fit))
  if (closest < ANY) return []
  const methods = fitting.filter(({ fit }) => fit === closest).map(({ route }) => route.method)
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))].toSorted()
}

const segmentsOf = (path: string): string[] => path.replace(/\/$/, '').split('/')

/** -1: no match. */
function fitOf(route: Route, path: string, segments: readonly string[]): number {
  if (!matches(segmentsOf(route.path), segments)) return -1
  if (!route.path.endsWith('*')) return route.path.includes('/:') ? WITH_PARAMETERS : EXACT
  const ends = endsOf(route)
  if (ends.length === 0 || ends.includes('')) return ANY
  return ends.some((end) => path.endsWith(end)) ? WITH_END : -1
}

/** The suffix after the name in the documented paths of a wildcard route: `:generateContent`, or ''. */
const endsOf = ({ hooks }: Route): string[] =>
  Object.keys(objectOf(objectOf(objectOf(hooks)['detail'])['x-documented-as'])).map((path) =>
    path.slice(path.lastIndexOf('}') + 1),
  )

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  for (const [index, expected] of pattern.entries()) {
    if (expected === '*') return segments.length > index
    const segment = segments[index]
    if (segment === undefined) return false
    if (expected.startsWith(':') ? segment === '' : segment !== expected) return false
  }
  return pattern.length === segments.length
}
