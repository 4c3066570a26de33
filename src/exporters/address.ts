import { withoutTrailing } from '../core/trailing.ts'

/** The address of `path` below `base`, whose query stays. */
export function addressAt(base: string, path: string): string {
  const url = new URL(base)
  url.pathname = withoutTrailing(url.pathname, '/') + path
  return url.href
}
