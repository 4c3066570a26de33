import type { HealthChange } from '../core/endpoint-health.ts'
import type { Settlement } from '../core/generation.ts'
import type { TraceContext } from '../core/trace-context.ts'
import type { Incoming } from '../http/incoming.ts'
import type { Logger } from './log.ts'

/** Where generations and the health of endpoints are logged. */
export interface RunLoggers {
  readonly providers: Logger
  readonly server: Logger
}

export function logHealth(
  { providers }: RunLoggers,
  { isWell, message, endpointId, providerSlug, credentialId }: HealthChange,
): void {
  const fields = { endpoint: endpointId, provider: providerSlug, credential: credentialId }
  if (isWell) providers.info(fields, message)
  else providers.warn(fields, message)
}

/** At `debug`, a line for each attempt of a settled generation. Without a provider's own code, which may be any text. */
export function logAttempts(
  { providers }: RunLoggers,
  { requestId, generationId, tries }: Settlement,
  { trace: { traceId } }: Incoming,
): void {
  if (!providers.isLevelEnabled('debug')) return
  for (const [index, { endpointId, providerSlug, status, latencyMs, isByok = false }] of tries.entries())
    providers.debug(
      {
        request_id: requestId,
        trace_id: traceId,
        generation_id: generationId,
        attempt: index,
        endpoint: endpointId,
        provider: providerSlug,
        status,
        first_content_ms: latencyMs,
        byok: isByok,
      },
      'attempt',
    )
}

export const logLost = (
  { server }: RunLoggers,
  error: unknown,
  generationId: string,
  { traceId }: TraceContext,
): void =>
  server.error(
    { err: error, generation_id: generationId, trace_id: traceId },
    'a failure after the client had disconnected',
  )
