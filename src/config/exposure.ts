import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { isLoopback } from './readers.ts'

/**
 * A server that other machines can reach must not start if it would have to create and print secrets. `hasKeys`: the
 * database has keys of an earlier start. Returns a message for the operator; null if the server may listen.
 */
export function exposureProblem(config: Config, hasKeys: boolean): string | null {
  if (isLoopback(config.host)) return null
  const missing: string[] = []
  if (config.secretKey === null && !existsSync(join(config.data, 'secret.key')))
    missing.push('SLUICE_SECRET_KEY')
  if (!hasKeys && config.managementKey === null) missing.push('SLUICE_MANAGEMENT_KEY')
  if (!hasKeys && config.apiKey === null) missing.push('SLUICE_API_KEY')
  if (missing.length === 0) return null
  return (
    `SLUICE_HOST ${config.host} is reachable from other machines, so ${missing.join(', ')} must be set ` +
    '(`openssl rand -hex 32` makes a value for each), or start once on 127.0.0.1, which creates and prints them'
  )
}
