/**
 * Datadog's LLM Observability, by its HTTP intake: docs.datadoghq.com/llm_observability/instrumentation/api (the form of
 * the request, ages, sizes) and the spans of dd-trace 6.21 (what is in them), read on 2026-11-23. The SDK sends the same
 * spans to /api/v2/llmobs, in another envelope: a list of `{event_type: "span", spans}`.
 */
import {
  asList,
  fieldsOf,
  type JsonObject,
  objectsIn,
  parseJson,
  textOf,
  textOfPart,
} from '../../core/json.ts'
import { usdOf } from '../../core/money.ts'
import { addressAt } from '../address.ts'
import { chatMessages } from '../chat-messages.ts'
import { type Conversation, conversationOf, promptOf } from '../conversation.ts'
import { DESTINATION_TYPES } from '../destination-types.ts'
import { headersOf } from '../headers.ts'
import { jsonText } from '../json-text.ts'
import type { DestinationKind } from '../kind.ts'
import type { ExportRecord } from '../record.ts'
import { metadataOf, nameOf, present } from '../row.ts'
import { spanIdOf } from '../span-ids.ts'

const HOUR_MS = 3_600_000
/** The vendor's limit of 5 MB, for a request and for an event, with the rest of the envelope. */
const MOST_BYTES = 5_000_000

export const datadog: DestinationKind = {
  type: 'datadog',
  fields: DESTINATION_TYPES.datadog,
  limits: { records: 200, bytes: MOST_BYTES, waitMs: 2_000, recordBytes: MOST_BYTES, oldestMs: 24 * HOUR_MS },
  batchOf: (records, { config, service }) => [
    {
      url: addressAt(config.fields['url'] ?? '', '/api/intake/llm-obs/v1/trace/spans'),
      method: 'POST',
      headers: headersOf(config, { 'dd-api-key': config.fields['apiKey'] ?? '' }, 'application/json'),
      body: jsonText({
        data: {
          type: 'span',
          attributes: {
            ml_app: config.fields['mlApp'],
            tags: tagsOf({
              service: 'sluice',
              version: service.version,
              ml_app: config.fields['mlApp'],
              source: 'sluice',
            }),
            spans: records.map(spanOf),
          },
        },
      }),
      gzip: true,
    },
  ],
}

function spanOf(record: ExportRecord) {
  const { trace, error, startedAt, endedAt, sessionId, identity } = record
  return {
    trace_id: trace.traceId,
    span_id: decimal(spanIdOf(record.id, 'chat')),
    parent_id: parentOf(record),
    name: nameOf(record),
    start_ns: nanoseconds(startedAt),
    duration: (endedAt - startedAt) * 1e6,
    status: error === null ? 'ok' : 'error',
    ...(sessionId === null ? {} : { session_id: sessionId }),
    tags: tagsOf({
      ...record.metadata,
      generation_id: record.id,
      workspace: record.workspace.name,
      provider: record.provider.slug,
      model: record.model,
      outcome: record.truth,
      finish_reason: record.finishReason,
      error: error === null ? 0 : 1,
      error_type: error?.type,
      session_id: sessionId,
      user_id: identity?.user,
      api_key_name: identity?.keyName,
    }),
    meta: metaOf(record),
    metrics: metricsOf(record),
  }
}

/** Another generation, or none, as the vendor writes it. The span of a caller is one of its APM, and hides the trace as a parent. */
const parentOf = ({ parent }: ExportRecord): string =>
  parent === null ? 'undefined' : decimal(spanIdOf(parent.id, 'chat'))

/** Ids of spans are decimal there. */
const decimal = (hex: string): string => BigInt(`0x${hex}`).toString()

/** Beyond 2^53 the last digits are rounded, to 256 ns; what JSON has of it is exact to the millisecond. */
const nanoseconds = (at: number): number => at * 1e6

const OPERATIONS: { readonly [Type in ExportRecord['apiType']]?: string } = {
  embeddings: 'embedding',
  rerank: 'retrieval',
  tool: 'tool',
}

function metaOf(record: ExportRecord) {
  const { error, parameters, trace } = record
  const conversation = conversationOf(record)
  const kind = OPERATIONS[record.apiType] ?? 'llm'
  return {
    kind,
    'span.kind': kind,
    ...(kind === 'llm' || kind === 'embedding'
      ? { model_name: record.model, model_provider: record.provider.slug.toLowerCase() }
      : {}),
    input: conversation === null ? {} : inputOf(kind, conversation),
    output: conversation === null ? {} : outputOf(kind, conversation),
    metadata: {
      ...metadataOf(record),
      ...present({
        temperature: parameters.temperature,
        max_tokens: parameters.maxTokens,
        top_p: parameters.topP,
        top_k: parameters.topK,
        frequency_penalty: parameters.frequencyPenalty,
        presence_penalty: parameters.presencePenalty,
        seed: parameters.seed,
        reasoning_effort: parameters.reasoningEffort,
        stream: record.streamed,
        requested_model: record.requestedModel,
        parent_span_id: trace.parentSpanId,
        upstream_id: record.upstreamId,
        service_tier: record.serviceTier,
        data_region: record.dataRegion,
        attempts: record.attempts.length,
        content_missing: record.contentMissing,
      }),
    },
    ...(error === null ? {} : failureOf(error)),
  }
}

/** As the HTTP API writes it, and as the tracer does. */
function failureOf(failure: NonNullable<ExportRecord['error']>) {
  const error = { type: failure.type, message: failure.message ?? failure.type }
  return { error, 'error.type': error.type, 'error.message': error.message }
}

function inputOf(kind: string, conversation: Conversation) {
  const messages = messagesOf(promptOf(conversation))
  if (kind === 'embedding') return { documents: messages.map(({ content }) => ({ text: content })) }
  return kind === 'llm' ? { messages } : { value: joined(messages) }
}

function outputOf(kind: string, { output }: Conversation) {
  const messages = messagesOf(output)
  return kind === 'llm' ? { messages } : { value: joined(messages) }
}

const joined = (messages: readonly { readonly content: string }[]): string =>
  messages.map(({ content }) => content).join('\n')

/** Contents are texts there; reasoning is a message of its own. */
const messagesOf = (messages: Conversation['input']) =>
  chatMessages(messages).flatMap((message) => {
    const { role, content, reasoning, tool_calls: calls, tool_call_id: answered } = message
    const text = contentOf(content)
    return [
      ...(reasoning === undefined ? [] : [{ role: 'reasoning', content: textOf(reasoning) }]),
      {
        role: textOf(role),
        content: text,
        ...(calls === undefined ? {} : { tool_calls: objectsIn(calls).map(callOf) }),
        ...(answered === undefined
          ? {}
          : { tool_results: [{ tool_id: answered, result: text, name: '', type: 'function' }] }),
      },
    ]
  })

const contentOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : asList(content)
        .map((part) => textOfPart(part) || jsonText(part))
        .join('\n')

function callOf({ id, function: called }: JsonObject) {
  const { name, arguments: given } = fieldsOf(called)
  return { tool_id: textOf(id), name, arguments: argumentsOf(textOf(given)), type: 'function' }
}

/** An object, as the intake wants it. */
function argumentsOf(given: string): unknown {
  const value = parseJson(given)
  return typeof value === 'object' && value !== null ? value : { value: value ?? given }
}

function metricsOf({ usage, cost, startedAt, firstContentAt, streamed }: ExportRecord) {
  return present({
    input_tokens: usage.promptTokens,
    output_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_write_input_tokens: usage.cacheWriteTokens,
    reasoning_output_tokens: usage.reasoningTokens,
    time_to_first_token: streamed && firstContentAt !== null ? (firstContentAt - startedAt) / 1000 : null,
    total_cost: cost && usdOf(cost.totalNanoUsd),
    input_cost: cost?.promptNanoUsd == null ? null : usdOf(cost.promptNanoUsd),
    output_cost: cost?.completionNanoUsd == null ? null : usdOf(cost.completionNanoUsd),
  })
}

const tagsOf = (tags: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(present(tags)).map(([name, value]) => `${name}:${String(value)}`)
