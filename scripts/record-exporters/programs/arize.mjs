import {
  getInputAttributes,
  getLLMAttributes,
  getMetadataAttributes,
  getOutputAttributes,
} from '@arizeai/openinference-core'
import { OpenInferenceSpanKind } from '@arizeai/openinference-semantic-conventions'
import { register } from '@arizeai/phoenix-otel'
import { record, recorder } from './generation.mjs'

const provider = register({
  projectName: 'my-project',
  url: recorder,
  apiKey: 'ak',
  batch: false,
  global: false,
})
const { usage, content, parameters } = record
const { messages } = content.input
const span = provider.getTracer('sluice').startSpan('chat', {
  startTime: new Date(record.startedAt),
  attributes: {
    'openinference.span.kind': OpenInferenceSpanKind.LLM,
    ...getLLMAttributes({
      provider: 'azure',
      modelName: record.model,
      invocationParameters: { temperature: parameters.temperature, max_tokens: parameters.maxTokens },
      inputMessages: messages.map(({ role, content: text, tool_calls: calls, tool_call_id: toolCallId }) => ({
        role,
        ...(text === null ? {} : { content: typeof text === 'string' ? text : text[0].text }),
        ...(calls === undefined
          ? {}
          : { toolCalls: calls.map(({ id, function: called }) => ({ id, function: called })) }),
        ...(toolCallId === undefined ? {} : { toolCallId }),
      })),
      outputMessages: [{ role: 'assistant', content: content.output.completion }],
      tokenCount: {
        prompt: usage.promptTokens,
        completion: usage.completionTokens,
        total: usage.promptTokens + usage.completionTokens,
        promptDetails: { cacheRead: usage.cacheReadTokens, cacheWrite: usage.cacheWriteTokens },
      },
      tools: content.tools.map((tool) => ({ jsonSchema: tool })),
    }),
    ...getMetadataAttributes({ release: '1.4', team: 'blue' }),
    ...getInputAttributes({ value: JSON.stringify(messages), mimeType: 'application/json' }),
    ...getOutputAttributes({ value: content.output.completion, mimeType: 'text/plain' }),
    'session.id': record.sessionId,
    'user.id': record.identity.user,
  },
})
span.end(new Date(record.endedAt))
await provider.forceFlush()
await provider.shutdown()
