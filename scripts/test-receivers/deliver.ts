import { gunzipSync } from 'node:zlib'
import type { DestinationConfig, DestinationType } from '../../src/exporters/destination-types.ts'
import type { BatchContext, Meaning } from '../../src/exporters/kind.ts'
import { KINDS } from '../../src/exporters/kinds/index.ts'
import { meaningOfStatus } from '../../src/exporters/meaning.ts'
import type { ExportRecord } from '../../src/exporters/record.ts'
import { fullRecord } from '../../test/exporters/records.ts'

/** Half of a character, quotes, every plane: what texts of models hold at their worst. */
const HOSTILE = 'half \ud83d " \\ \' ` \u0000 \u2028 ä 漢 😀 </Code> \r\n\t'

/** Three generations: a usual one, one without content, cost and caller, and one with hostile texts. */
export const records: readonly ExportRecord[] = [
  fullRecord({ id: 'gen-1' }),
  fullRecord({ id: 'gen-2', content: null, cost: null, identity: null, contentMissing: 'privacy' }),
  fullRecord({
    id: 'gen-3',
    error: { type: 'timeout', status: 504, message: HOSTILE },
    truth: 'failed',
    metadata: { [HOSTILE]: HOSTILE },
    content: {
      input: { messages: [{ role: 'user', content: HOSTILE }] },
      output: { completion: HOSTILE, reasoning: null },
      tools: null,
    },
  }),
]

/** Sends one batch as the delivery does, and returns what the last reply means. */
export async function deliver(
  type: DestinationType,
  config: DestinationConfig,
  given: readonly ExportRecord[] = records,
  changes: Partial<BatchContext> = {},
): Promise<Meaning> {
  const kind = KINDS[type]
  const context: BatchContext = {
    destinationId: '0193c0de-0000-7000-8000-000000000002',
    config,
    first: 64,
    last: 66,
    now: Date.now(),
    service: { version: '9.9.9', instanceId: 'receiver' },
    isRepeat: false,
    isTest: false,
    ...changes,
  }
  let meaning: Meaning = { outcome: 'accepted' }
  for (const { url, method, headers, body, gzip } of await kind.batchOf(given, context)) {
    const packed = gzip === true ? Bun.gzipSync(body) : body
    const sent = new Headers(headers)
    if (gzip === true) sent.set('content-encoding', 'gzip')
    const reply = await fetch(url, {
      method,
      headers: sent,
      body: packed,
      redirect: 'manual',
    })
    const bytes = await reply.bytes()
    meaning = (kind.meaningOf ?? meaningOfStatus)(
      { status: reply.status, headers: reply.headers, body: bytes },
      context,
    )
    if (meaning.outcome !== 'accepted') return meaning
  }
  return meaning
}

export const inflated = (bytes: Uint8Array): string => gunzipSync(bytes).toString()
