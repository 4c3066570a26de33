/**
 * PostHog's LLM analytics, by its batch endpoint: what posthog-node 5.70 and @posthog/ai 8.13 send, read in their packages on
 * 2026-11-23, and posthog.com/docs/llm-analytics/manual-capture.
 *
 * Not by /i/v0/ai/otel, which exists as well: a uuid of ours makes a repeated event count once, and an event takes the
 * cost that was charged. PostHog makes both itself for spans: a repeat counts twice, and the cost is its own estimate.
 */
import { parseObject, textsIn } from '../../core/json.ts'
import { usdOf } from '../../core/money.ts'
import { addressAt } from '../address.ts'
import { chatMessages } from '../chat-messages.ts'
import { conversationOf, promptOf } from '../conversation.ts'
import { DESTINATION_TYPES } from '../destination-types.ts'
import { headersOf } from '../headers.ts'
import { jsonText } from '../json-text.ts'
import type { BatchContext, DeliveryReply, DestinationKind, Meaning } from '../kind.ts'
import { meaningOfStatus } from '../meaning.ts'
import type { ExportRecord } from '../record.ts'
import { iso, metadataOf, nameOf, present } from '../row.ts'
import { spanIdOf } from '../span-ids.ts'
import { uuidOf } from '../uuid.ts'

export const posthog: DestinationKind = {
  type: 'posthog',
  fields: DESTINATION_TYPES.posthog,
  // The endpoint refuses bodies of more than 20 MB, and events of more than 1 MB are dropped behind it.
  limits: { records: 100, bytes: 8_000_000, waitMs: 2_000, recordBytes: 900_000 },
  batchOf: (records, { config, now }) => [
    {
      url: addressAt(config.fields['endpoint'] ?? '', '/batch/'),
      method: 'POST',
      headers: headersOf(config, {}, 'application/json'),
      body: jsonText({
        api_key: config.fields['apiKey'],
        batch: records.map(eventOf),
        sent_at: iso(now),
      }),
      gzip: true,
    },
  ],
  meaningOf,
}

function eventOf(record: ExportRecord) {
  const { trace, identity, apiType } = record
  return {
    event: apiType === 'embeddings' ? '$ai_embedding' : '$ai_generation',
    uuid: uuidOf(record.id),
    distinct_id: identity?.user ?? trace.traceId,
    timestamp: iso(record.endedAt),
    properties: propertiesOf(record),
  }
}

/** Keys of `trace` and `metadata` are properties beside PostHog's own, which they cannot replace: `$set` changes a person. */
function propertiesOf(record: ExportRecord) {
  const { usage, cost, content, error, firstContentAt, identity, trace } = record
  const conversation = conversationOf(record)
  return {
    ...Object.fromEntries(
      Object.entries(metadataOf(record)).map(([key, value]) => [
        key.startsWith('$') ? `metadata_${key}` : key,
        value,
      ]),
    ),
    ...present({
      $lib: 'sluice',
      $ai_lib: 'sluice',
      // The address of the call is the gateway's, not that of a person.
      $geoip_disable: true,
      $is_server: true,
      $ai_trace_id: trace.traceId,
      $ai_span_id: spanIdOf(record.id, 'chat'),
      $ai_parent_id: parentOf(record),
      $ai_span_name: nameOf(record),
      $ai_session_id: record.sessionId,
      $ai_model: record.model,
      $ai_provider: record.provider.slug,
      $ai_model_parameters: record.parameters,
      $ai_service_tier: record.serviceTier,
      $ai_input: conversation && chatMessages(promptOf(conversation)),
      $ai_output_choices: conversation && chatMessages(conversation.output),
      $ai_tools: content?.tools,
      $ai_input_tokens: usage.promptTokens,
      $ai_output_tokens: usage.completionTokens,
      $ai_cache_read_input_tokens: usage.cacheReadTokens,
      $ai_cache_creation_input_tokens: usage.cacheWriteTokens,
      // Its tokens of the prompt include those of the cache, whatever the vendor's own numbers mean.
      $ai_cache_reporting_exclusive: false,
      $ai_reasoning_tokens: usage.reasoningTokens,
      $ai_latency: (record.endedAt - record.startedAt) / 1000,
      $ai_time_to_first_token:
        record.streamed && firstContentAt !== null ? (firstContentAt - record.startedAt) / 1000 : null,
      $ai_stream: record.streamed,
      $ai_http_status: error === null ? 200 : error.status,
      $ai_is_error: error !== null,
      $ai_error: error && (error.message ?? error.type),
      $ai_stop_reason: record.finishReason,
      $ai_completion_id: record.upstreamId,
      $ai_total_cost_usd: cost && usdOf(cost.totalNanoUsd),
      $ai_input_cost_usd: usdOrNull(cost?.promptNanoUsd),
      $ai_output_cost_usd: usdOrNull(cost?.completionNanoUsd),
      generation_id: record.id,
      workspace: record.workspace.name,
      api_key_name: identity?.keyName,
      outcome: record.truth,
      content_missing: record.contentMissing,
    }),
    // Without a user there is no person: each trace would become one.
    ...(identity?.user == null ? { $process_person_profile: false } : {}),
  }
}

const usdOrNull = (nanoUsd: number | null | undefined): number | null =>
  nanoUsd == null ? null : usdOf(nanoUsd)

/** The span that it hangs under; the trace itself without one. */
function parentOf({ parent, trace }: ExportRecord): string {
  return parent === null ? (trace.parentSpanId ?? trace.traceId) : spanIdOf(parent.id, 'chat')
}

/** A quota that is used up is answered with 200, and what came is dropped. */
const QUOTAS = new Set(['events', 'llm_events'])

function meaningOf(reply: DeliveryReply, context: BatchContext): Meaning {
  if (reply.status === 401) {
    return { outcome: 'unauthorized', sentence: 'knows no project with this API key (401)' }
  }
  const meaning = meaningOfStatus(reply, context)
  if (meaning.outcome !== 'accepted') return meaning
  const body = parseObject(new TextDecoder().decode(reply.body))
  if (!textsIn(body?.['quota_limited']).some((name) => QUOTAS.has(name))) return meaning
  return { outcome: 'retry', sentence: 'drops events, because the quota of its project is used up' }
}
