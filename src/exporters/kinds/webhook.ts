/**
 * OTLP/JSON to an address of the operator, signed as Standard Webhooks 1.0.0 describes
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md, November 2026).
 */
import { createHash, createHmac } from 'node:crypto'
import { DESTINATION_TYPES, type SigningSecret } from '../destination-types.ts'
import type { DestinationKind } from '../kind.ts'
import { tracesCall } from '../otlp/call.ts'
import { meaningOfOtlp } from '../otlp/meaning.ts'
import type { ExportRecord } from '../record.ts'

export const webhook: DestinationKind = {
  type: 'webhook',
  fields: DESTINATION_TYPES.webhook,
  limits: { records: 100, bytes: 1_000_000, waitMs: 1_000 },
  batchOf(records, context) {
    const { fields, signing = [] } = context.config
    const { url = '', method } = fields
    const call = tracesCall(records, context, {
      url,
      method: method === 'PUT' ? 'PUT' : 'POST',
      headers: {},
      encoding: 'json',
      // The signature is that of the bytes that arrive.
      gzip: false,
    })
    const id = messageIdOf(context.destinationId, records)
    const headers = signatureOf(call.body, id, context.now, signing)
    return [{ ...call, headers: { ...call.headers, ...headers } }]
  },
  meaningOf: meaningOfOtlp,
}

/** The same one for the same events, so that a receiver recognizes a repetition. */
const messageIdOf = (destinationId: string, records: readonly ExportRecord[]): string =>
  `msg_${createHash('sha256')
    .update([destinationId, ...records.map(({ id }) => id)].join('\n'))
    .digest('hex')
    .slice(0, 32)}`

/** One signature for each valid secret: while a secret is replaced, the receiver may have either. */
function signatureOf(
  body: string | Uint8Array,
  id: string,
  now: number,
  signing: readonly SigningSecret[],
): Record<string, string> {
  const valid = signing.filter(({ until }) => until === null || now < until)
  if (valid.length === 0) return {}
  const timestamp = String(Math.floor(now / 1000))
  const signatures = valid.map(({ secret }) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
    return `v1,${digest}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
