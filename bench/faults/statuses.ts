import { faultOf } from '../answers.ts'
import { fails } from './behaviours.ts'
import { faultless, type Step } from './figure.ts'
import type { EndpointSpec } from './world.ts'

/** F5: what follows from each status: another endpoint or not, and whether this one is called again at once. */

interface Row {
  readonly name: string
  readonly status: number
  readonly headers?: string
  readonly body?: string
  /** Another endpoint answers. */
  readonly failsOver: boolean
  /** Whether the next requests call the endpoint; null: the breaker decides. */
  readonly isCalledAgain: boolean | null
}

const error = (message: string, code: string): string => JSON.stringify({ error: { message, code } })

const ROWS: readonly Row[] = [
  { name: '429-seconds', status: 429, headers: 'retry-after: 30\r\n', failsOver: true, isCalledAgain: false },
  {
    name: '429-date',
    status: 429,
    headers: `retry-after: ${new Date(Date.now() + 60_000).toUTCString()}\r\n`,
    failsOver: true,
    isCalledAgain: false,
  },
  {
    name: '429-absurd',
    status: 429,
    headers: 'retry-after: 99999999999\r\n',
    failsOver: true,
    isCalledAgain: false,
  },
  { name: '429-plain', status: 429, failsOver: true, isCalledAgain: false },
  { name: '500', status: 500, failsOver: true, isCalledAgain: null },
  { name: '502', status: 502, failsOver: true, isCalledAgain: null },
  { name: '503', status: 503, failsOver: true, isCalledAgain: null },
  { name: '529', status: 529, failsOver: true, isCalledAgain: null },
  { name: '401', status: 401, failsOver: true, isCalledAgain: false },
  { name: '402', status: 402, failsOver: true, isCalledAgain: false },
  {
    name: '400-temperature',
    status: 400,
    body: error('temperature is too high', 'bad'),
    failsOver: false,
    isCalledAgain: true,
  },
  {
    name: '404-model',
    status: 404,
    body: error('no such model', 'model_not_found'),
    failsOver: true,
    isCalledAgain: false,
  },
  {
    name: '400-length',
    status: 400,
    body: error('the context length is exceeded', 'context_length_exceeded'),
    failsOver: true,
    isCalledAgain: true,
  },
  { name: '413', status: 413, body: error('too large', 'too_large'), failsOver: true, isCalledAgain: true },
]

const NEXT_REQUESTS = 3

export const statuses: Step = async ({ start }) => {
  const world = await start(
    new Map<string, EndpointSpec[]>(
      ROWS.map(({ name, status, headers, body }) => [
        name,
        [{ behaviour: fails(status, { ...(headers ? { headers } : {}), ...(body ? { body } : {}) }) }, {}],
      ]),
    ),
  )
  await world.earnRetries(ROWS.length * (1 + NEXT_REQUESTS))
  const faults: string[] = []
  for (const { name, status, failsOver, isCalledAgain } of ROWS) {
    const first = await world.ask(name)
    const isAnswered = faultOf('unary', first.status, first.body, false, name) === null
    if (isAnswered !== failsOver || (!failsOver && first.status !== status))
      faults.push(`${name}: the caller got ${first.status}`)
    const calls = world.provider(name, 0).calls()
    if (calls !== 1) faults.push(`${name}: ${calls} calls for one request`)
    for (let next = 0; next < NEXT_REQUESTS; next++) await world.ask(name)
    const again = world.provider(name, 0).calls() - calls
    if (isCalledAgain === true && again < NEXT_REQUESTS)
      faults.push(`${name}: a mistake of the caller shut it`)
    if (isCalledAgain === false && again > 0) faults.push(`${name}: called again ${again} times`)
  }
  await world.stop()
  return [faultless('F5 statuses: fail-over, cooldown, passed through', ROWS.length, faults)]
}
