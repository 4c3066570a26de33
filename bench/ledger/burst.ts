import { formatUsd } from '../../src/core/money.ts'
import { openConnection } from '../connection.ts'
import type { Reply } from '../reply-reader.ts'
import type { Target } from '../target.ts'
import { makeKey, manage, spentNanoUsd } from './administration.ts'
import { ASKS, type Ask, CENT, centModelOf } from './asks.ts'

/** Five hundred requests at once on a key that has money for a few. */

const CALLERS = 500
const PATIENCE_MS = 60_000
const AFFORDABLE = 10

export interface BurstRow {
  name: string
  answered: number
  refused: number
  /** Neither an answer nor a 402. */
  faults: string[]
  limitNanoUsd: number
  spentNanoUsd: number
  /** What the gateway says is held when all is over. */
  heldAfter: string
  isGood: boolean
}

/** Each route twice: priced by the request, where exactly ten fit, and by tokens, where the hold exceeds the cost. */
export async function bursts(target: Target): Promise<BurstRow[]> {
  const rows: BurstRow[] = []
  for (const ask of ASKS) {
    rows.push(await burst(target, ask, centModelOf(ask), AFFORDABLE * CENT, AFFORDABLE))
    rows.push(await burst(target, ask, ask.model, AFFORDABLE * ask.costNanoUsd, null))
  }
  return rows
}

async function burst(
  target: Target,
  ask: Ask,
  model: string,
  limitNanoUsd: number,
  affordable: number | null,
): Promise<BurstRow> {
  const { key, hash } = await makeKey(target, { limit: limitNanoUsd / 1e9, limit_reset: 'daily' })
  const replies = await askAtOnce(target.port, ask.path, ask.body(model), key)
  let answered = 0
  let refused = 0
  const faults = new Set<string>()
  for (const { status, body } of replies) {
    const fault = ask.faultOf(status, body)
    if (fault === null) answered += 1
    else if (status === 402) refused += 1
    else faults.add(fault)
  }
  const spent = await spentNanoUsd(target, hash)
  const heldAfter = await heldOf(target, key, hash, spent)
  const isCounted = affordable === null ? answered > 0 : answered === affordable
  const isExact = spent === answered * (affordable === null ? ask.costNanoUsd : CENT)
  return {
    name: `${ask.name}, priced by ${affordable === null ? 'tokens' : 'the request'}`,
    answered,
    refused,
    faults: [...faults].slice(0, 3),
    limitNanoUsd,
    spentNanoUsd: spent,
    heldAfter,
    isGood:
      isCounted &&
      isExact &&
      spent <= limitNanoUsd &&
      heldAfter === formatUsd(0) &&
      answered + refused === CALLERS,
  }
}

/** All connections are open before the first request goes out. */
async function askAtOnce(port: number, path: string, body: string, key: string): Promise<Reply[]> {
  const request = Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n` +
      `authorization: Bearer ${key}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  const connections = await Promise.all(Array.from({ length: CALLERS }, () => openConnection(port)))
  const replies = await Promise.all(
    connections.map((connection) =>
      connection
        .ask(request, PATIENCE_MS, () => {})
        .catch((error): Reply => ({ status: 0, body: String(error), closes: true })),
    ),
  )
  for (const connection of connections) connection.close()
  return replies
}

/** From the gateway's message: a refusal names the amounts that are used and reserved. */
async function heldOf(target: Target, key: string, hash: string, spent: number): Promise<string> {
  await manage(target, 'PATCH', `/keys/${hash}`, { limit: (spent + 1) / 1e9 })
  const ask = ASKS[0]
  if (ask === undefined) throw new Error('there is nothing to ask for')
  const reply = await fetch(`http://127.0.0.1:${target.port}${ask.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: ask.body(ask.model),
  })
  const text = await reply.text()
  return /used and (\S+) is held/.exec(text)?.[1] ?? `unknown: ${reply.status} ${text.slice(0, 200)}`
}

export const burstTable = (rows: readonly BurstRow[]): string[][] => [
  [`${CALLERS} at once`, 'answered', 'refused', 'limit', 'spent', 'overshoot', 'held after', 'good'],
  ...rows.map((row) => [
    row.name,
    String(row.answered),
    String(row.refused),
    formatUsd(row.limitNanoUsd),
    formatUsd(row.spentNanoUsd),
    formatUsd(Math.max(0, row.spentNanoUsd - row.limitNanoUsd)),
    row.heldAfter,
    row.isGood ? 'yes' : `NO ${row.faults.join('; ')}`,
  ]),
]
