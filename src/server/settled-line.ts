import type { Caller } from '../core/caller.ts'
import { gaveContent, type Settlement } from '../core/generation.ts'
import { type AccessLog, noteSettled, numeral, quoted } from '../http/access-log.ts'
import type { Incoming } from '../http/incoming.ts'

/**
 * Logs a settled generation: key, model, times, cost; never a secret or a prompt. The fields are part of the request's
 * line, or of a second line if that was written already: streams and background runs end later.
 */
export function logSettled(log: AccessLog, settlement: Settlement, caller: Caller, incoming: Incoming): void {
  const { requestId, latencyMs, generationTimeMs } = settlement
  const id = `"generation_id":"${settlement.generationId}"`
  const rest = settledMembers(settlement)
  // The request's own line names the key already.
  if (noteSettled(incoming, `${id},${rest}`)) return
  const totalMs = numeral(Math.round(latencyMs + generationTimeMs))
  log.request(
    `"request_id":"${requestId}","trace_id":"${incoming.trace.traceId}","status":200,"total_ms":${totalMs},${id},"key":${quoted(caller.key.label)},${rest}`,
  )
}

function settledMembers(settlement: Settlement): string {
  const { usage, finishReason, responseCacheSourceId, tries } = settlement
  const lastTry = tries.at(-1)
  const hasContent = responseCacheSourceId !== undefined || (lastTry !== undefined && gaveContent(lastTry))
  const promptTokens = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens
  const cancelled = settlement.cancelled ? ',"cancelled":true' : ''
  const byok = settlement.isByok ? ',"byok":true' : ''
  const cachedFrom = responseCacheSourceId ? `,"cached_from":${quoted(responseCacheSourceId)}` : ''
  return (
    `"model":${quoted(settlement.modelId)},"provider":${quoted(settlement.providerSlug)},` +
    `"finish":${finishReason === null ? 'null' : quoted(finishReason)}${cancelled}${byok}${cachedFrom},` +
    `"streamed":${settlement.streamed},` +
    `"first_token_ms":${hasContent ? numeral(Math.round(settlement.latencyMs)) : null},` +
    `"prompt_tokens":${numeral(promptTokens)},` +
    `"completion_tokens":${numeral(usage.outputTokens + usage.reasoningTokens)},` +
    `"cost_usd":${numeral(settlement.costNanoUsd / 1e9)}`
  )
}
