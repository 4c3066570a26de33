import type { DestinationType } from '../destination-types.ts'
import type { DestinationKind } from '../kind.ts'
import { clickhouse } from './clickhouse.ts'
import { datadog } from './datadog.ts'
import { grafana } from './grafana.ts'
import { langfuse } from './langfuse.ts'
import { otelCollector } from './otel-collector.ts'
import { posthog } from './posthog.ts'
import { s3 } from './s3.ts'
import { snowflake } from './snowflake.ts'
import { webhook } from './webhook.ts'

/** The kinds that are delivered to. */
export const KINDS: { readonly [Type in DestinationType]?: DestinationKind } = {
  clickhouse,
  datadog,
  grafana,
  langfuse,
  'otel-collector': otelCollector,
  posthog,
  s3,
  snowflake,
  webhook,
}
