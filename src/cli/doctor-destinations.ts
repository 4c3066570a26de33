import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sendTestEvent } from '../admin/resources/destinations/try.ts'
import type { Config } from '../config.ts'
import { GatewayError } from '../core/errors.ts'
import { DATABASE_FILE, openForReading } from '../db/database.ts'
import { makeSealer } from '../db/seal.ts'
import { type Destination, OWN_TELEMETRY } from '../delivery/destination.ts'
import { ownTelemetry, readDestinations } from '../delivery/stored.ts'
import { hostOf, type OutboundAllow, parseOutboundAllow } from '../net/address.ts'
import type { Finding } from './doctor-data.ts'
import { readKeyFile } from './doctor-stored.ts'

/** Sends one test event to every enabled observability destination, and to the collector of our own telemetry. */
export async function checkDestinations(config: Config): Promise<Finding[]> {
  const unreadable: Finding[] = []
  const destinations = readAll(config, (id) =>
    unreadable.push({
      check: `destination ${id}`,
      status: 'problem',
      detail: 'its config cannot be opened: send it again',
    }),
  )
  const allow = parseOutboundAllow(config.outboundAllow)
  const tried = await Promise.all(destinations.map((destination) => checkOne(destination, allow)))
  if (tried.length + unreadable.length > 0) return [...unreadable, ...tried]
  return [{ check: 'destinations', status: 'ok', detail: 'none is enabled' }]
}

function readAll(config: Config, onUnreadable: (id: string) => void): Destination[] {
  const own = ownTelemetry(config)
  const file = join(config.data, DATABASE_FILE)
  if (!existsSync(file)) return own === null ? [] : [own]
  const database = openForReading(file)
  try {
    const sealer = makeSealer(config.secretKey ?? readKeyFile(config.data))
    return readDestinations({ database, sealer, own, onUnreadable })
      .flatMap(({ open }) => open() ?? [])
      .filter(({ enabled }) => enabled)
  } finally {
    database.close()
  }
}

async function checkOne(destination: Destination, allow: OutboundAllow): Promise<Finding> {
  const { id, name, type, workspaceId, config } = destination
  const check = `destination ${name} (${type})`
  const { endpoint = '' } = config.fields
  const hosts = id === OWN_TELEMETRY ? new Set([...allow.hosts, hostOf(new URL(endpoint))]) : allow.hosts
  try {
    const workspace = { id: workspaceId ?? '', name: '' }
    const deps = { now: Date.now, outboundAllow: { ...allow, hosts } }
    const { success, message } = await sendTestEvent(destination, workspace, deps)
    return { check, status: success ? 'ok' : 'problem', detail: message }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return { check, status: 'problem', detail: error.message }
  }
}
