import { faultOf } from '../answers.ts'
import { freePort } from '../process.ts'
import { atMost, faultless, type Step } from './figure.ts'
import type { EndpointSpec } from './world.ts'

/** F6: providers that cannot be reached, or speak no HTTP. */

const ENDPOINTS: Readonly<Record<string, EndpointSpec>> = {
  'unknown-name': { baseUrl: () => 'http://no-such-provider.invalid/v1' },
  refused: { baseUrl: () => `http://127.0.0.1:${freePort()}/v1` },
  'no-tls': { baseUrl: (port) => `https://127.0.0.1:${port}/v1` },
  garbage: { behaviour: ({ socket }) => socket.write('SSH-2.0-OpenSSH_9.9 no HTTP at all\r\n\r\n') },
}
const MOST_MS = 1_000

export const unreachable: Step = async ({ start }) => {
  const names = Object.keys(ENDPOINTS)
  const world = await start(new Map(Object.entries(ENDPOINTS).map(([name, spec]) => [name, [spec, {}]])))
  await world.earnRetries(names.length)
  const faults: string[] = []
  let slowest = 0
  for (const name of names) {
    const { status, body, ms } = await world.ask(name)
    const fault = faultOf('unary', status, body, false, name)
    if (fault !== null) faults.push(`${name}: ${fault.slice(0, 80)}`)
    slowest = Math.max(slowest, ms)
  }
  await world.stop()
  return [
    faultless('F6 unknown name, refused, no TLS, no HTTP: the next provider', names.length, faults),
    atMost('F6 slowest fail-over', slowest, MOST_MS, ' ms'),
  ]
}
