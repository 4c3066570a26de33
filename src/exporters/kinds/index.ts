import type { DestinationType } from '../destination-types.ts'
import type { DestinationKind } from '../kind.ts'
import { grafana } from './grafana.ts'
import { langfuse } from './langfuse.ts'
import { otelCollector } from './otel-collector.ts'
import { webhook } from './webhook.ts'

/** The kinds that are delivered to. */
export const KINDS: { readonly [Type in DestinationType]?: DestinationKind } = {
  grafana,
  langfuse,
  'otel-collector': otelCollector,
  webhook,
}
