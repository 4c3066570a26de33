/**
 * Opik by OTLP (https://www.comet.com/docs/opik/tracing/opentelemetry/overview, November 2026). Attributes: the rules of
 * its server, which takes the conventions' names, `gen_ai.system` for the provider, `thread_id` and `opik.metadata`
 * (github.com/comet-ml/opik, domain/mapping/otel).
 */
import { providerNameOf } from '../../core/gen-ai.ts'
import { tracesKind } from '../otlp/kind.ts'
import { prefixed } from '../otlp/span.ts'

const ADDRESS = 'https://www.comet.com/opik/api/v1/private/otel/v1/traces'

export const opik = tracesKind('opik', ({ apiKey = '', workspace = '', projectName = '' }) => ({
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
}))
