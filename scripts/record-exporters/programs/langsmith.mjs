process.env.LANGSMITH_ENDPOINT = process.env.SLUICE_RECORDER
process.env.LANGSMITH_API_KEY = 'ak'
process.env.LANGSMITH_PROJECT = 'main'
process.env.LANGSMITH_TRACING = 'true'
process.env.LANGSMITH_OTEL_ENABLED = 'true'

const { initializeOTEL } = await import('langsmith/experimental/otel/setup')
const { DEFAULT_LANGSMITH_SPAN_PROCESSOR } = initializeOTEL()
const { Client } = await import('langsmith')
const { traceable } = await import('langsmith/traceable')
const { record } = await import('./generation.mjs')

const { parameters, usage } = record
const client = new Client()
const generate = traceable(
  () => ({
    choices: [{ message: { role: 'assistant', content: record.content.output.completion } }],
    usage_metadata: {
      input_tokens: usage.promptTokens,
      output_tokens: usage.completionTokens,
      total_tokens: usage.promptTokens + usage.completionTokens,
      input_token_details: { cache_read: usage.cacheReadTokens, cache_creation: usage.cacheWriteTokens },
      output_token_details: { reasoning: usage.reasoningTokens },
    },
  }),
  {
    name: 'chat',
    run_type: 'llm',
    client,
    metadata: {
      ls_provider: 'azure',
      ls_model_name: record.model,
      ls_temperature: parameters.temperature,
      ls_max_tokens: parameters.maxTokens,
      session_id: record.sessionId,
      release: '1.4',
      team: 'blue',
    },
    tags: ['blue'],
  },
)
await generate({
  model: record.model,
  messages: record.content.input.messages,
  temperature: parameters.temperature,
  max_tokens: parameters.maxTokens,
  top_p: parameters.topP,
  stream: true,
})
await client.awaitPendingTraceBatches()
await DEFAULT_LANGSMITH_SPAN_PROCESSOR.forceFlush()
await DEFAULT_LANGSMITH_SPAN_PROCESSOR.shutdown()
