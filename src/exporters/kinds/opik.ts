/**
 * Opik by OTLP (https://www.comet.com/docs/opik/tracing/opentelemetry/overview, November 2026). Attributes: the rules of
 * its server, which takes the conventions' names, `gen_ai.system` for the provider, `thread_id` and `opik.metadata`
 * (github.com/comet-ml/opik, domain/mapping/otel).
 */
import { providerNameOf } from '../../core/gen-ai.ts'
import { DESTINATION_TYPES } from '../destination-types.ts'
import type { DestinationKind } from '../kind.ts'
import { TRACES_LIMITS, tracesCall } from '../otlp/call.ts'
import { meaningOfOtlp } from '../otlp/meaning.ts'
import { prefixed } from '../otlp/span.ts'

const ADDRESS = 'https://www.comet.com/opik/api/v1/private/otel/v1/traces'

export const opik: DestinationKind = {
  type: 'opik',
  fields: DESTINATION_TYPES.opik,
  limits: TRACES_LIMITS,
  batchOf(records, context) {
    const { apiKey = '', workspace = '', projectName = '' } = context.config.fields
    return [
      tracesCall(records, context, {
        url: ADDRESS,
        // Without "Bearer"; names of headers have no case.
        headers: { authorization: apiKey, 'comet-workspace': workspace, projectname: projectName },
        extras: (record) => {
          const trace = {
            thread_id: record.sessionId,
            ...prefixed('opik.metadata.', { ...record.trace.extra, ...record.metadata }),
          }
          return { request: trace, chat: { ...trace, 'gen_ai.system': providerNameOf(record.provider.slug) } }
        },
      }),
    ]
  },
  meaningOf: meaningOfOtlp,
}
