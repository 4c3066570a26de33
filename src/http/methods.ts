/** Which methods a path has, so that a wrong one is told apart from an unknown path. */
interface Route {
  readonly method: string
  readonly path: string
}

/** Sorted, without repeats; empty: no route has this path. `path` is as it came in the URL. */
export function allowedMethods(routes: readonly Route[], path: string): string[] {
  const segments = segmentsOf(path)
  const methods = new Set<string>()
  for (const route of routes) {
    if (!matches(segmentsOf(route.path), segments)) continue
    methods.add(route.method)
    if (route.method === 'GET') methods.add('HEAD')
  }
  return [...methods].toSorted()
}

const segmentsOf = (path: string): string[] => path.replace(/\/$/, '').split('/')

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  for (const [index, expected] of pattern.entries()) {
    if (expected === '*') return segments.length > index
    const segment = segments[index]
    if (segment === undefined) return false
    if (expected.startsWith(':') ? segment === '' : segment !== expected) return false
  }
  return pattern.length === segments.length
}
