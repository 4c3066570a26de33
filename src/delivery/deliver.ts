import { GatewayError, UpstreamError } from '../core/errors.ts'
import type {
  BatchContext,
  DeliveryReply,
  DestinationCall,
  DestinationKind,
  Meaning,
} from '../exporters/kind.ts'
import { meaningOfStatus } from '../exporters/meaning.ts'
import { spanCountOf } from '../exporters/otlp/spans.ts'
import type { ExportRecord } from '../exporters/record.ts'
import { type Clock, pause } from './clock.ts'

export interface DeliverDeps {
  readonly clock: Clock
  /** Throws an `UpstreamError`, or a `GatewayError` for an address that is not allowed. */
  send(call: DestinationCall, destinationId: string, signal: AbortSignal): Promise<DeliveryReply>
}

/** What became of a batch. `status`: of the destination's reply; null: there was none. */
export type Outcome =
  | { readonly kind: 'accepted'; readonly rejected: number; readonly message: string | null }
  | { readonly kind: 'retry'; readonly message: string; readonly afterMs: number | null }
  | { readonly kind: 'refused'; readonly message: string; readonly status: number | null }
  | { readonly kind: 'too-large'; readonly message: string; readonly status: number | null }
  | { readonly kind: 'unauthorized'; readonly message: string }

/** A reply that does not come within this time has failed. */
const PATIENCE_MS = 30_000
/** A destination that works on a batch for longer gets it again. */
const PENDING_MS = 10 * 60_000
const LEAST_POLL_MS = 250

/** A batch in the form of its destination. It holds no record: what waits for a slow destination is small. */
export interface Encoded {
  readonly calls: readonly DestinationCall[]
  readonly generations: number
  readonly spans: number
}

/** Encodes a batch; an outcome if it cannot be sent. */
export async function encode(
  kind: DestinationKind,
  records: readonly ExportRecord[],
  context: BatchContext,
): Promise<Encoded | Outcome> {
  let calls: readonly DestinationCall[]
  try {
    calls = await kind.batchOf(records, context)
  } catch {
    return {
      kind: 'refused',
      message: 'The event cannot be written in the form of this destination',
      status: null,
    }
  }
  const most = records.length === 1 ? (kind.limits.recordBytes ?? kind.limits.bytes) : kind.limits.bytes
  if (calls.some(({ body }) => Buffer.byteLength(body) > most))
    return { kind: 'too-large', message: `The event is larger than ${most} bytes`, status: null }
  const spans = records.reduce((sum, record) => sum + spanCountOf(record), 0)
  return { calls: calls.map(packed), generations: records.length, spans }
}

function packed(call: DestinationCall): DestinationCall {
  if (call.gzip !== true || call.method === 'GET') return call
  const headers = { ...call.headers, 'content-encoding': 'gzip' }
  return { ...call, headers, body: Bun.gzipSync(call.body, { level: 1 }), gzip: false }
}

/** Sends a batch, each call once. Never throws. */
export async function deliver(
  deps: DeliverDeps,
  kind: DestinationKind,
  batch: Encoded,
  context: BatchContext,
  signal: AbortSignal,
): Promise<Outcome> {
  let rejected = 0
  let message: string | null = null
  for (const call of batch.calls) {
    const outcome = await deliverCall(deps, kind, call, context, signal)
    if (outcome.kind !== 'accepted') return outcome
    rejected += outcome.rejected
    message = outcome.message ?? message
  }
  return { kind: 'accepted', rejected: generationsOf(rejected, batch), message }
}

/** About how many generations these spans are: as large a part of all. */
const generationsOf = (rejected: number, { generations, spans }: Encoded): number =>
  Math.min(generations, Math.ceil((rejected * generations) / spans))

/** Sends one call, and asks for its outcome while the destination works on it. */
async function deliverCall(
  { clock, send }: DeliverDeps,
  kind: DestinationKind,
  first: DestinationCall,
  context: BatchContext,
  signal: AbortSignal,
): Promise<Outcome> {
  let call = first
  for (let waitedMs = 0; waitedMs <= PENDING_MS; ) {
    const late = new AbortController()
    const cancel = clock.after(PATIENCE_MS, () => late.abort(new UpstreamError('timeout', 'no reply')))
    let reply: DeliveryReply
    try {
      reply = await send(call, context.destinationId, AbortSignal.any([signal, late.signal]))
    } catch (error) {
      return { kind: 'retry', message: failureOf(error), afterMs: null }
    } finally {
      cancel()
    }
    const meaning = kind.meaningOf?.(reply, context) ?? meaningOfStatus(reply, context)
    if (meaning.outcome !== 'pending') return outcomeOf(meaning, reply.status)
    const waitMs = Math.max(LEAST_POLL_MS, meaning.afterMs)
    waitedMs += waitMs
    await pause(clock, waitMs, signal)
    call = meaning.next
  }
  return { kind: 'retry', message: 'The destination accepted a batch and did not finish it', afterMs: null }
}

function outcomeOf(meaning: Exclude<Meaning, { outcome: 'pending' }>, status: number): Outcome {
  switch (meaning.outcome) {
    case 'accepted': {
      const message = meaning.sentence === undefined ? null : sentenceOf(meaning.sentence)
      return { kind: 'accepted', rejected: meaning.rejectedSpans ?? 0, message }
    }
    case 'retry':
      return { kind: 'retry', message: sentenceOf(meaning.sentence), afterMs: meaning.afterMs ?? null }
    case 'refused':
    case 'too-large':
      return { kind: meaning.outcome, message: sentenceOf(meaning.sentence), status }
    case 'unauthorized':
      return { kind: 'unauthorized', message: sentenceOf(meaning.sentence) }
  }
}

/** Sentences of kinds begin with their verb or are complete. */
const sentenceOf = (words: string): string => (/^[A-Z]/.test(words) ? words : `The destination ${words}`)

/** Why nothing came back. What the destination's network says is not repeated. */
function failureOf(error: unknown): string {
  if (error instanceof GatewayError)
    return 'The address of the destination is private or not allowed; see SLUICE_OUTBOUND_ALLOW'
  if (!(error instanceof UpstreamError)) return 'The destination could not be called'
  if (error.kind === 'timeout') return `The destination did not reply within ${PATIENCE_MS / 1000} seconds`
  return `The destination could not be reached: ${error.reason}`
}
