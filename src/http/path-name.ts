import { badRequest } from '../core/errors.ts'

/** A name that a wildcard of a path took, plain or percent-encoded. Throws a `GatewayError` 400 for a broken encoding. */
export function nameInPath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw badRequest('The path is not validly percent-encoded')
  }
}
