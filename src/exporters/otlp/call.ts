import { withoutTrailing } from '../../core/trailing.ts'
import { headersOf } from '../headers.ts'
import type { BatchContext, BatchLimits, DestinationCall } from '../kind.ts'
import type { ExportRecord } from '../record.ts'
import { jsonOf } from './json.ts'
import { createSpanWriter, protobufOf } from './protobuf.ts'
import type { Attributes } from './span.ts'
import { type ExtrasOf, spansOf } from './spans.ts'

/** Batches that OTLP's receivers take: most accept 4 MB and more. */
export const TRACES_LIMITS: BatchLimits = { records: 512, bytes: 4_000_000, waitMs: 1_000 }

export interface TracesTarget {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly method?: 'POST' | 'PUT'
  /** Default: protobuf. */
  readonly encoding?: 'json' | 'protobuf'
  /** Default: true. */
  readonly gzip?: boolean
  /** Attributes of the resource besides those of the service. */
  readonly resource?: Attributes
  readonly extras?: ExtrasOf
}

/** The records as one call of OTLP's traces over HTTP. */
export function tracesCall(
  records: readonly ExportRecord[],
  { config, service, isTest, encodings }: BatchContext,
  target: TracesTarget,
): DestinationCall {
  const isJson = target.encoding === 'json'
  const from = {
    resource: {
      'service.name': 'sluice',
      'service.version': service.version,
      'service.instance.id': service.instanceId,
      'sluice.test': isTest ? true : null,
      ...target.resource,
    },
    version: service.version,
  }
  return {
    url: target.url,
    method: target.method ?? 'POST',
    headers: headersOf(config, target.headers, isJson ? 'application/json' : 'application/x-protobuf'),
    body: isJson
      ? jsonOf({ ...from, spans: records.flatMap((record) => spansOf(record, target.extras)) })
      : protobufOf(from, encoded(records, target.extras, encodings)),
    gzip: target.gzip ?? true,
  }
}

/** The address of traces below `base`; a base that names it already stays. */
export function tracesAt(base: string, path = ''): string {
  const url = new URL(base)
  const before = withoutTrailing(url.pathname, '/')
  url.pathname = before.endsWith('/v1/traces') ? before : `${before}${path}/v1/traces`
  return url.href
}

/** The spans of each record. Without additions they are the same for all kinds, so that each record is encoded once. */
function encoded(
  records: readonly ExportRecord[],
  extras: ExtrasOf | undefined,
  encodings: BatchContext['encodings'] = new WeakMap(),
): Uint8Array[] {
  const write = createSpanWriter()
  return records.map((record) => {
    const known = extras === undefined ? encodings.get(record) : undefined
    const spans = known ?? write(spansOf(record, extras))
    if (extras === undefined) encodings.set(record, spans)
    return spans
  })
}
