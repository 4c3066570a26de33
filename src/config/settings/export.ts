import { otlpHeaders } from '../otlp-headers.ts'
import * as read from '../readers.ts'
import { optional, type Setting, setting } from '../setting.ts'

/** Delivery to observability destinations, and the gateway's own telemetry. */
export const exportSettings = {
  exportMaxAgeHours: setting({
    variable: 'SLUICE_EXPORT_MAX_AGE_HOURS',
    type: 'hours',
    fallback: 72,
    read: read.wholeNumber(1, 8_760, 'hours'),
    meaning:
      'How long a generation waits for an observability destination. Older ones are dropped, counted, and recorded in the audit log.',
  }),
  exportMaxMb: setting({
    variable: 'SLUICE_EXPORT_MAX_MB',
    type: 'MB',
    fallback: 512,
    read: read.wholeNumber(1, 1_000_000, 'MB'),
    meaning:
      'Size of what waits for observability destinations: of the queue, and of the contents for it. Beyond it the oldest of the queue are dropped, and generations are delivered without their content.',
  }),
  otlpEndpoint: optional({
    variable: 'SLUICE_OTLP_ENDPOINT',
    others: ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
    type: 'URL',
    read: read.webAddress,
    meaning:
      'OpenTelemetry collector for spans of all workspaces, without prompts and replies. Its host may be private. Default: `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, then `OTEL_EXPORTER_OTLP_ENDPOINT`.',
  }),
  otlpHeaders: setting<Readonly<Record<string, string>>>({
    variable: 'SLUICE_OTLP_HEADERS',
    others: ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS'],
    type: '`name=value`, separated by commas',
    fallback: {},
    read: otlpHeaders,
    meaning:
      'Headers for `SLUICE_OTLP_ENDPOINT`; values may be percent-encoded. Default: `OTEL_EXPORTER_OTLP_TRACES_HEADERS`, then `OTEL_EXPORTER_OTLP_HEADERS`.',
  }),
  otlpProtocol: setting<'http/protobuf' | 'http/json'>({
    variable: 'SLUICE_OTLP_PROTOCOL',
    others: ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'],
    type: '`http/protobuf` or `http/json`',
    fallback: 'http/protobuf',
    read: read.oneOf('http/protobuf', 'http/json'),
    meaning:
      'How spans are written for `SLUICE_OTLP_ENDPOINT`. There is no gRPC: name the port of the collector for HTTP, usually 4318. Default: `OTEL_EXPORTER_OTLP_TRACES_PROTOCOL`, then `OTEL_EXPORTER_OTLP_PROTOCOL`.',
  }),
  otlpSampling: setting({
    variable: 'SLUICE_OTLP_SAMPLING',
    type: '0 to 1',
    fallback: 1,
    read: read.share,
    meaning: 'The share of generations whose spans are sent to `SLUICE_OTLP_ENDPOINT`.',
  }),
} satisfies Record<string, Setting<unknown>>
