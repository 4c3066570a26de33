import { captureAiGeneration } from '@posthog/ai'
import { PostHog } from 'posthog-node'
import { record, recorder } from './generation.mjs'

const client = new PostHog('phc_key', { host: recorder, flushAt: 1, flushInterval: 0 })
await captureAiGeneration(client, {
  distinctId: record.identity.user,
  traceId: record.trace.traceId,
  provider: record.provider.slug,
  model: record.model,
  modelParameters: record.parameters,
  input: record.content.input.messages,
  output: [{ role: 'assistant', content: record.content.output.completion }],
  latency: (record.endedAt - record.startedAt) / 1000,
  timeToFirstToken: (record.firstContentAt - record.startedAt) / 1000,
  httpStatus: 200,
  usage: {
    inputTokens: record.usage.promptTokens,
    outputTokens: record.usage.completionTokens,
    reasoningTokens: record.usage.reasoningTokens,
    cacheReadInputTokens: record.usage.cacheReadTokens,
    cacheCreationInputTokens: record.usage.cacheWriteTokens,
    cacheReportingExclusive: false,
  },
  costOverride: {
    inputCost: record.cost.promptNanoUsd / 1e9 / record.usage.promptTokens,
    outputCost: record.cost.completionNanoUsd / 1e9 / record.usage.completionTokens,
  },
  tools: record.content.tools,
  stopReason: record.finishReason,
  completionId: record.upstreamId,
  servedServiceTier: record.serviceTier,
  properties: { team: 'blue', $ai_session_id: record.sessionId },
  captureImmediate: true,
})
await client.shutdown()
