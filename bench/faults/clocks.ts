import { faultOf } from '../answers.ts'
import { drips, STREAM_HEAD, stalls, stallsAfterFirstWord } from './behaviours.ts'
import { atMost, type Figure, faultless, type Step } from './figure.ts'
import type { Behaviour } from './provider.ts'

/** F4: providers that keep a connection open and do not answer. */

const LIMIT_MS = 1_000
/** How much later than its limit a clock may fire. */
const SLACK_MS = 1_000

const PING = `7\r\n: ping\n\r\n`
const repeated = (part: string): string[] => Array.from({ length: 1_000 }, () => part)

const SILENT: readonly (readonly [name: string, behaviour: Behaviour])[] = [
  ['no-head', stalls],
  ['head-by-bytes', drips([...'HTTP/1.1 200 OK\r\n', ...repeated('x')], 100)],
  ['head-only', drips([STREAM_HEAD], 1)],
  ['pings-only', drips([STREAM_HEAD, ...repeated(PING)], 100)],
]
const STALLED = 'stalled'

export const slowProviders: Step = async ({ start }) => {
  const entry = { timeouts: { first_byte_ms: LIMIT_MS, between_bytes_ms: LIMIT_MS } }
  const first = (behaviour: Behaviour) => [{ behaviour, entry }, {}]
  const world = await start(
    new Map([
      ...SILENT.map(([name, behaviour]) => [name, first(behaviour)] as const),
      [STALLED, first(stallsAfterFirstWord)] as const,
    ]),
  )
  await world.earnRetries(SILENT.length)
  const faults: string[] = []
  const answers = await Promise.all(
    SILENT.map(async ([name]) => ({ name, ...(await world.ask(name, { isStream: true })) })),
  )
  for (const { name, status, body, ms } of answers) {
    const fault = faultOf('stream', status, withoutComments(body), false, name)
    if (fault !== null) faults.push(`${name}: ${fault.slice(0, 80)}`)
    else if (ms < LIMIT_MS) faults.push(`${name}: gave up after ${ms.toFixed(0)} ms`)
  }
  const stalled = await world.ask(STALLED, { isStream: true })
  if (!stalled.body.includes('"finish_reason":"error"') || stalled.body.includes('[DONE]'))
    faults.push(`${STALLED}: no error event`)
  if (world.provider(STALLED, 1).calls() > 0) faults.push(`${STALLED}: spliced`)
  await world.stop()
  return [
    faultless('F4 silent providers: the next one, an error after content', SILENT.length + 1, faults),
    late(
      'F4 slowest answer behind a silent provider, a limit of 1 s',
      Math.max(...answers.map(({ ms }) => ms)),
    ),
    late('F4 error after a stall, a limit of 1 s', stalled.ms),
  ]
}

const late = (measure: string, ms: number): Figure => atMost(measure, ms, LIMIT_MS + SLACK_MS, ' ms')

const withoutComments = (body: string): string => body.replaceAll(/^:.*\n\n/gm, '')
