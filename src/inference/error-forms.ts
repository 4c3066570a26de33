import { ingresses } from '../dialects/index.ts'
import type { FormOf } from '../http/envelope.ts'

/**
 * Which requests are answered errors in the form of another API: those of its routes, and of whatever its clients
 * look for below them, so that they understand that too.
 */
export function errorFormOf(basePath: string): FormOf {
  const messages = ['/api/v1', '/v1'].map((prefix) => `${basePath}${prefix}/messages`)
  return (request) => {
    // A malformed Host makes an address that cannot be read.
    const pathname = URL.parse(request.url)?.pathname ?? ''
    const isBelow = messages.some((path) => pathname === path || pathname.startsWith(`${path}/`))
    return isBelow ? ingresses.messages.viewError : undefined
  }
}
