import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { isLoopback } from './readers.ts'

/**
 * A server that others can reach must not start with secrets that it would first have to make and print.
 * `hasKeys`: a former start has left keys in the database. Null: it may listen; else the sentence for the operator.
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
    '(`openssl rand -hex 32` makes a value for each), or start once on 127.0.0.1, which makes and prints them'
  )
}
