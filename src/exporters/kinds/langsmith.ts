/**
 * LangSmith by OTLP. Attributes: langsmith 0.12.0 (experimental/otel), which still reads `gen_ai.system`, `gen_ai.prompt`
 * and `gen_ai.completion`; headers of the same package, the project's of
 * https://docs.langchain.com/langsmith/trace-with-opentelemetry (November 2026).
 */
import { providerNameOf } from '../../core/gen-ai.ts'
import { usdOf } from '../../core/money.ts'
import { chatMessages } from '../chat-messages.ts'
import { type Conversation, promptOf } from '../conversation.ts'
import { jsonText } from '../json-text.ts'
import { tracesAt } from '../otlp/call.ts'
import { tracesKind } from '../otlp/kind.ts'
import { type Attributes, prefixed } from '../otlp/span.ts'
import type { ExportRecord } from '../record.ts'

export const langsmith = tracesKind(
  'langsmith',
  ({ endpoint = '', apiKey = '', project = '', workspaceId }) => ({
    url: tracesAt(endpoint, '/otel'),
    headers: {
      'x-api-key': apiKey,
      // The attribute has it too, for names that no header can carry.
      ...(/^[\x20-\x7e]+$/.test(project) ? { 'langsmith-project': project } : {}),
      ...(workspaceId === undefined ? {} : { 'x-tenant-id': workspaceId }),
    },
    extras: (record, conversation) => ({
      request: { ...traceAttributes(record, project), 'langsmith.span.kind': 'chain' },
      chat: { ...traceAttributes(record, project), ...runAttributes(record, conversation) },
    }),
  }),
)

const traceAttributes = (record: ExportRecord, project: string): Attributes => ({
  'langsmith.trace.session_name': project,
  'langsmith.metadata.session_id': record.sessionId,
  'langsmith.metadata.user_id': record.identity?.user,
  ...prefixed('langsmith.metadata.', { ...record.trace.extra, ...record.metadata }),
})

const runAttributes = (record: ExportRecord, conversation: Conversation | null): Attributes => {
  const { usage } = record
  return {
    'langsmith.span.kind': RUN_TYPES[record.apiType] ?? 'llm',
    'langsmith.request.streaming': record.streamed,
    'gen_ai.system': providerNameOf(record.provider.slug),
    'gen_ai.usage.total_tokens': usage.promptTokens + usage.completionTokens,
    'gen_ai.usage.input_token_details': jsonText(inputDetails(record)),
    'gen_ai.usage.output_token_details': jsonText({ reasoning: usage.reasoningTokens }),
    'langsmith.usage_metadata': jsonText(usageMetadata(record)),
    'langsmith.metadata.ls_provider': record.provider.slug,
    'langsmith.metadata.ls_model_name': record.model,
    ...prefixed('langsmith.metadata.ls_', {
      temperature: record.parameters.temperature,
      max_tokens: record.parameters.maxTokens,
    }),
    'gen_ai.response.service_tier': record.serviceTier,
    'gen_ai.prompt': conversation && jsonText({ messages: chatMessages(promptOf(conversation)) }),
    'gen_ai.completion': conversation && jsonText({ choices: choicesOf(conversation) }),
  }
}

const RUN_TYPES: { readonly [Type in ExportRecord['apiType']]?: string } = {
  embeddings: 'embedding',
  rerank: 'retriever',
  tool: 'tool',
}

const inputDetails = ({ usage }: ExportRecord) => ({
  cache_read: usage.cacheReadTokens,
  cache_creation: usage.cacheWriteTokens,
})

/** With the cost that was charged: LangSmith would estimate one from its own list of prices. */
function usageMetadata(record: ExportRecord): object {
  const { usage, cost } = record
  return {
    input_tokens: usage.promptTokens,
    output_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    input_token_details: inputDetails(record),
    output_token_details: { reasoning: usage.reasoningTokens },
    ...(cost === null ? {} : { total_cost: usdOf(cost.totalNanoUsd) }),
  }
}

const choicesOf = ({ output }: Conversation) =>
  chatMessages(output).map((message, index) => ({ index, message }))
