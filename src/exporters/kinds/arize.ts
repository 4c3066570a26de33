/**
 * Arize AX by OTLP with OpenInference's attributes: @arizeai/openinference-semantic-conventions 2.12.0. The pair of
 * headers has two spellings in the vendor's own clients (`space_id` and `api_key` in arize-otel for Python,
 * `arize-space-id` and `arize-api-key` in its examples for Node); both are sent. Pages and packages of November 2026.
 */
import { usdOf } from '../../core/money.ts'
import { type Conversation, type Message, promptOf } from '../conversation.ts'
import type { MessagePart } from '../conversation-parts.ts'
import { jsonText } from '../json-text.ts'
import { tracesAt } from '../otlp/call.ts'
import { tracesKind } from '../otlp/kind.ts'
import type { Attributes } from '../otlp/span.ts'
import { parametersOf } from '../parameters.ts'
import type { ExportRecord } from '../record.ts'

export const arize = tracesKind('arize', ({ baseUrl = '', apiKey = '', spaceKey = '', modelId = '' }) => ({
  url: tracesAt(baseUrl),
  headers: {
    space_id: spaceKey,
    api_key: apiKey,
    'arize-space-id': spaceKey,
    'arize-api-key': apiKey,
  },
  resource: { 'openinference.project.name': modelId, model_id: modelId },
  extras: (record, conversation) => ({
    request: { 'openinference.span.kind': 'CHAIN', ...callerAttributes(record) },
    chat: { ...llmAttributes(record), ...callerAttributes(record), ...messages(record, conversation) },
  }),
}))

const callerAttributes = (record: ExportRecord): Attributes => ({
  'session.id': record.sessionId,
  'user.id': record.identity?.user,
  metadata: metadataText({ ...record.trace.extra, ...record.metadata }),
})

const metadataText = (metadata: object): string | null =>
  Object.keys(metadata).length === 0 ? null : jsonText(metadata)

function llmAttributes(record: ExportRecord): Attributes {
  const { usage, cost } = record
  return {
    'openinference.span.kind': KINDS[record.apiType] ?? 'LLM',
    'llm.model_name': record.model,
    'llm.provider': record.provider.slug,
    'llm.invocation_parameters': jsonText(parametersOf(record.parameters)),
    'llm.finish_reason': record.finishReason,
    'llm.token_count.prompt': usage.promptTokens,
    'llm.token_count.completion': usage.completionTokens,
    'llm.token_count.total': usage.promptTokens + usage.completionTokens,
    'llm.token_count.prompt_details.cache_read': usage.cacheReadTokens,
    'llm.token_count.prompt_details.cache_write': usage.cacheWriteTokens,
    'llm.token_count.completion_details.reasoning': usage.reasoningTokens,
    'llm.cost.total': usd(cost?.totalNanoUsd),
    'llm.cost.prompt': usd(cost?.promptNanoUsd),
    'llm.cost.completion': usd(cost?.completionNanoUsd),
  }
}

const KINDS: { readonly [Type in ExportRecord['apiType']]?: string } = {
  embeddings: 'EMBEDDING',
  rerank: 'RERANKER',
  tool: 'TOOL',
  moderation: 'GUARDRAIL',
}

const usd = (nano: number | null | undefined) =>
  nano === null || nano === undefined ? null : { double: usdOf(nano) }

function messages({ content }: ExportRecord, conversation: Conversation | null): Attributes {
  if (conversation === null) return {}
  const { output } = conversation
  const all = promptOf(conversation)
  return {
    'input.value': jsonText({ messages: all }),
    'input.mime_type': 'application/json',
    'output.value': jsonText({ messages: output }),
    'output.mime_type': 'application/json',
    ...flattened('llm.input_messages', all),
    ...flattened('llm.output_messages', output),
    ...Object.fromEntries(
      (content?.tools ?? []).map((tool, index) => [`llm.tools.${index}.tool.json_schema`, jsonText(tool)]),
    ),
  }
}

const flattened = (prefix: string, list: readonly Message[]): Attributes =>
  Object.assign(
    {},
    ...list.map(({ role, parts }, index) => messageAttributes(`${prefix}.${index}.message`, role, parts)),
  )

function messageAttributes(prefix: string, role: string, parts: readonly MessagePart[]): Attributes {
  const texts = parts.filter(({ type }) => type !== 'tool_call' && type !== 'tool_call_response')
  const calls = parts.filter(({ type }) => type === 'tool_call')
  const result = parts.find(({ type }) => type === 'tool_call_response')
  return {
    [`${prefix}.role`]: role,
    [`${prefix}.content`]: result === undefined ? textOf(texts) : valueText(result['response']),
    [`${prefix}.tool_call_id`]: typeof result?.['id'] === 'string' ? result['id'] : null,
    ...Object.assign(
      {},
      ...calls.map((call, index) => callAttributes(`${prefix}.tool_calls.${index}.tool_call`, call)),
    ),
  }
}

const callAttributes = (prefix: string, call: MessagePart): Attributes => ({
  [`${prefix}.id`]: typeof call['id'] === 'string' ? call['id'] : null,
  [`${prefix}.function.name`]: String(call['name']),
  [`${prefix}.function.arguments`]: valueText(call['arguments']),
})

/** Reasoning is in `output.value` alone: OpenInference has no place for it in a message's text. */
const textOf = (parts: readonly MessagePart[]): string | null => {
  const shown = parts.filter(({ type }) => type !== 'reasoning')
  return shown.length === 0 ? null : shown.map((part) => valueText(part['content'] ?? part)).join('\n')
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : jsonText(value ?? null))
