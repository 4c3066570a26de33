import { BinaryReader } from '@bufbuild/protobuf/wire'
import { isObject } from '../../core/json.ts'
import type { BatchContext, DeliveryReply, Meaning } from '../kind.ts'
import { meaningOfStatus } from '../meaning.ts'

/** OTLP's partial success: a reply of 200 that names how many spans were rejected. Its message is not shown. */
export function meaningOfOtlp(reply: DeliveryReply, context: BatchContext): Meaning {
  const meaning = meaningOfStatus(reply, context)
  if (meaning.outcome !== 'accepted') return meaning
  const rejected = rejectedSpans(reply)
  if (rejected === 0) return meaning
  return {
    outcome: 'accepted',
    rejectedSpans: rejected,
    sentence: `answered ${reply.status}: it rejected ${rejected} spans`,
  }
}

/** A reply that is neither JSON nor protobuf rejects nothing: its status was a success. */
function rejectedSpans({ headers, body }: DeliveryReply): number {
  if (body.length === 0) return 0
  try {
    const isJson = headers.get('content-type')?.includes('json') === true
    const rejected = isJson ? rejectedInJson(new TextDecoder().decode(body)) : rejectedInProtobuf(body)
    return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0
  } catch {
    return 0
  }
}

function rejectedInJson(text: string): number {
  const reply: unknown = JSON.parse(text)
  const partial = isObject(reply) ? reply['partialSuccess'] : undefined
  return isObject(partial) ? Number(partial['rejectedSpans'] ?? 0) : 0
}

/** ExportTraceServiceResponse.partial_success (1) .rejected_spans (1). */
function rejectedInProtobuf(body: Uint8Array): number {
  let rejected = 0
  eachField(new BinaryReader(body), 1, (partial) => {
    eachField(new BinaryReader(partial.bytes()), 1, (count) => {
      rejected = Number(count.int64())
    })
  })
  return rejected
}

function eachField(from: BinaryReader, wanted: number, read: (from: BinaryReader) => void): void {
  while (from.pos < from.len) {
    const [field, type] = from.tag()
    if (field === wanted) read(from)
    else from.skip(type, field)
  }
}
