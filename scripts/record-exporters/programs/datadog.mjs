import tracer from 'dd-trace'
import { record } from './generation.mjs'

tracer.init({
  service: 'sluice',
  llmobs: { mlApp: 'support-bot', agentlessEnabled: false },
  startupLogs: false,
})
const { llmobs } = tracer
const tokens = record.usage
llmobs.trace(
  {
    kind: 'llm',
    name: record.trace.traceName,
    modelName: record.model,
    modelProvider: record.provider.slug,
    sessionId: record.sessionId,
  },
  (span) => {
    llmobs.annotate(span, {
      inputData: record.content.input.messages.map(({ role, content, tool_calls: calls = [] }) => ({
        role,
        content: typeof content === 'string' ? content : (content ?? []).map(({ text }) => text).join('\n'),
        ...(calls.length === 0
          ? {}
          : {
              toolCalls: calls.map((call) => ({
                toolId: call.id,
                name: call.function.name,
                arguments: JSON.parse(call.function.arguments),
                type: 'function',
              })),
            }),
      })),
      outputData: [{ role: 'assistant', content: record.content.output.completion }],
      metadata: { temperature: record.parameters.temperature, max_tokens: record.parameters.maxTokens },
      metrics: {
        inputTokens: tokens.promptTokens,
        outputTokens: tokens.completionTokens,
        totalTokens: tokens.promptTokens + tokens.completionTokens,
        cacheReadTokens: tokens.cacheReadTokens,
        cacheWriteTokens: tokens.cacheWriteTokens,
        reasoningOutputTokens: tokens.reasoningTokens,
      },
      tags: { team: 'blue' },
    })
  },
)
await llmobs.flush()
// The exporter of spans waits for its interval; what is wanted is sent.
setTimeout(() => process.exit(0), 3_000)
