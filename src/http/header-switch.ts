import { badRequest } from '../core/errors.ts'

const VALUES = ['', 'enabled', 'disabled']

/** True if a header of this name is `enabled`. Throws a `GatewayError` 400 that names it if its value is unknown. */
export function isEnabled(headers: Headers, name: string): boolean {
  const value = headers.get(name)?.trim().toLowerCase() ?? ''
  if (!VALUES.includes(value)) throw badRequest('must be enabled or disabled', `header ${name}`)
  return value === 'enabled'
}
