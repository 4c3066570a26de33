import { badRequest } from '../core/errors.ts'

/** Decodes a name in a path, plain or percent-encoded. Throws a `GatewayError` 400 for an invalid encoding. */
export function nameInPath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw badRequest('The path is not validly percent-encoded')
  }
}
