import { afterEach, expect } from 'bun:test'
import type { Socket } from 'node:net'
import { createUpstream } from '../../src/net/client.ts'
import { type ScriptedServer, scriptedServer } from './scripted.ts'

/**
 * A client for the tests of a file, and servers that follow a script. After each test the servers are stopped, and no
 * exchange may be left in flight.
 */
export function upstreamForFile() {
  const upstream = createUpstream()
  const servers: ScriptedServer[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) server.stop()
    expect(upstream.inFlight()).toBe(0)
  })
  const serve = async (script: (socket: Socket, index: number) => void): Promise<ScriptedServer> => {
    const server = await scriptedServer(script)
    servers.push(server)
    return server
  }
  return { upstream, serve }
}
