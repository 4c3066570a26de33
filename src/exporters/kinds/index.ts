import type { DestinationType } from '../destination-types.ts'
import type { DestinationKind } from '../kind.ts'
import { arize } from './arize.ts'
import { braintrust } from './braintrust.ts'
import { clickhouse } from './clickhouse.ts'
import { datadog } from './datadog.ts'
import { grafana } from './grafana.ts'
import { langfuse } from './langfuse.ts'
import { langsmith } from './langsmith.ts'
import { newrelic } from './newrelic.ts'
import { opik } from './opik.ts'
import { otelCollector } from './otel-collector.ts'
import { posthog } from './posthog.ts'
import { ramp } from './ramp.ts'
import { s3 } from './s3.ts'
import { sentry } from './sentry.ts'
import { snowflake } from './snowflake.ts'
import { weave } from './weave.ts'
import { webhook } from './webhook.ts'

export const KINDS: Readonly<Record<DestinationType, DestinationKind>> = {
  arize,
  braintrust,
  clickhouse,
  datadog,
  grafana,
  langfuse,
  langsmith,
  newrelic,
  opik,
  'otel-collector': otelCollector,
  posthog,
  ramp,
  s3,
  sentry,
  snowflake,
  weave,
  webhook,
}
