import { type Database, openForReading } from '../db/database.ts'
import { makeSealer } from '../db/seal.ts'
import type { DeliveryReply, DestinationCall } from '../exporters/kind.ts'
import { KINDS } from '../exporters/kinds/index.ts'
import { type OutboundAllow, parseOutboundAllow } from '../net/address.ts'
import { guardedFetch } from '../net/guarded.ts'
import { createBacklog, type OutboxRow } from './backlog.ts'
import { systemClock } from './clock.ts'
import { OWN_TELEMETRY } from './destination.ts'
import { createEngine, type Engine } from './engine.ts'
import type { ExportStores } from './export-stores.ts'
import type { FromWorker, Opening, ToWorker } from './messages.ts'
import { createOutboxReader } from './outbox-reader.ts'
import { createRecentRows } from './recent-rows.ts'
import { recordsOf } from './records.ts'
import { readLedger } from './replay.ts'

/** The end of the delivery that runs in a thread of its own. */
export interface DeliveryThread {
  receive(message: ToWorker): void
}

export function openDelivery(post: (message: FromWorker) => void): DeliveryThread {
  let engine: Engine | null = null
  return {
    receive(message) {
      if (message.kind === 'open') engine = engineOf(message, post)
      else if (engine !== null) pass(engine, message, post)
    },
  }
}

function pass(
  engine: Engine,
  message: Exclude<ToWorker, Opening>,
  post: (message: FromWorker) => void,
): void {
  switch (message.kind) {
    case 'lanes':
      engine.setLanes(message.lanes, new Set(message.changed))
      break
    case 'wake':
      engine.wake()
      break
    case 'resume':
      engine.resume(message.id)
      break
    case 'discard':
      engine.discard(message.id)
      break
    case 'replay':
      engine.replay(message.id, message.replay)
      break
    case 'stop':
      void engine.stop(message.ms).finally(() => post({ kind: 'stopped' }))
  }
}

function engineOf(
  { ledger, bodies, secretKey, outboundAllow, ownHost, maxAgeMs, maxBytes, service }: Opening,
  post: (message: FromWorker) => void,
): Engine {
  const opened = openForReading(ledger)
  const stores: ExportStores = {
    ledger: opened,
    readRows: createRecentRows(opened, systemClock.now),
    bodies: openForReading(bodies),
    sealer: makeSealer(secretKey),
    drafts: new WeakMap(),
    rules: new WeakMap(),
  }
  const allow = parseOutboundAllow(outboundAllow)
  // The operator names the collector of our own telemetry, which is often on a private host; others may not use it.
  const allowOwn = ownHost === null ? allow : { ...allow, hosts: new Set([...allow.hosts, ownHost]) }
  return createEngine({
    clock: systemClock,
    random: Math.random,
    service,
    maxAgeMs,
    kindOf: (type) => KINDS[type],
    backlog: createBacklog(backlogRows(opened), { maxAgeMs, maxBytes }),
    readOutbox: createOutboxReader(opened),
    readLedger: (after, to, most) => readLedger(stores.ledger, after, to, most),
    recordsOf: (entries, destination) => recordsOf(entries, destination, stores),
    send: (call, id, signal) => send(call, signal, id === OWN_TELEMETRY ? allowOwn : allow),
    report: (reports) => post({ kind: 'reports', reports }),
  })
}

/** Rows of older versions are counted here. */
const WORKSPACES = `coalesce(workspaces, CASE WHEN json_valid(generations) THEN
  (SELECT json_group_object(workspace, own) FROM (SELECT json_extract(value, '$.workspace') AS workspace, count(*) AS own
    FROM json_each(generations) GROUP BY 1)) ELSE '{}' END)`

export const backlogRows =
  ({ file }: Pick<Database, 'file'>) =>
  (after: number, most: number): OutboxRow[] =>
    file
      .query<OutboxRow, [number, number]>(
        `SELECT seq, committed_at AS committedAt, entries, octet_length(generations) AS bytes, ${WORKSPACES} AS workspaces FROM export_outbox WHERE seq > ? ORDER BY seq LIMIT ?`,
      )
      .all(after, most)

const REPLY_BYTES = 64 * 1024
/** Beyond the patience of the delivery, which ends a call before. */
const LAST_RESORT_MS = 120_000

/** One call through the guarded client. A redirect is a reply like others: it is not followed. */
export async function send(
  { url, method, headers, body }: DestinationCall,
  signal: AbortSignal,
  allow: OutboundAllow,
): Promise<DeliveryReply> {
  const reply = await guardedFetch(url, {
    method,
    headers,
    ...(method === 'GET' ? {} : { body }),
    limitBytes: REPLY_BYTES,
    timeoutMs: LAST_RESORT_MS,
    maxRedirects: 0,
    signal,
    allow,
  })
  return { status: reply.status, headers: new Headers(reply.headers), body: reply.body }
}
