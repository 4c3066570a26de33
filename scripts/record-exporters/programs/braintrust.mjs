import { initLogger } from 'braintrust'
import { record, recorder } from './generation.mjs'

const logger = initLogger({
  projectId: 'p-1',
  apiKey: 'ak',
  appUrl: recorder,
  orgName: 'team',
  asyncFlush: true,
})
const { usage, content, parameters, cost } = record
const span = logger.startSpan({
  name: 'chat',
  type: 'llm',
  startTime: record.startedAt / 1000,
  event: {
    input: content.input.messages,
    output: [{ role: 'assistant', content: content.output.completion }],
    metadata: {
      model: record.model,
      provider: 'azure',
      temperature: parameters.temperature,
      max_tokens: parameters.maxTokens,
      release: '1.4',
      team: 'blue',
    },
    metrics: {
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      tokens: usage.promptTokens + usage.completionTokens,
      prompt_cached_tokens: usage.cacheReadTokens,
      prompt_cache_creation_tokens: usage.cacheWriteTokens,
      completion_reasoning_tokens: usage.reasoningTokens,
      time_to_first_token: (record.firstContentAt - record.startedAt) / 1000,
      estimated_cost: cost.totalNanoUsd / 1e9,
    },
  },
})
span.end({ endTime: record.endedAt / 1000 })
await logger.flush()
