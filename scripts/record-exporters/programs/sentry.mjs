import * as Sentry from '@sentry/node'
import { record, recorder } from './generation.mjs'

const { host } = new URL(recorder)
const { usage, content, parameters } = record
Sentry.init({
  dsn: `http://public@${host}/2`,
  tracesSampleRate: 1,
  sendDefaultPii: true,
  defaultIntegrations: false,
})
const reply = {
  id: record.upstreamId,
  object: 'chat.completion',
  model: record.model,
  created: Math.floor(record.startedAt / 1000),
  choices: [
    {
      index: 0,
      finish_reason: record.finishReason,
      message: { role: 'assistant', content: content.output.completion },
    },
  ],
  usage: {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  },
}
/** Only what the SDK wraps: the call of chat completions. */
const client = Sentry.instrumentOpenAiClient(
  { chat: { completions: { create: async () => reply } } },
  { recordInputs: true, recordOutputs: true },
)
await Sentry.startSpan({ name: 'POST /chat/completions', op: 'http.server' }, () =>
  client.chat.completions.create({
    model: record.requestedModel,
    messages: content.input.messages,
    tools: content.tools,
    temperature: parameters.temperature,
    top_p: parameters.topP,
    max_tokens: parameters.maxTokens,
    frequency_penalty: parameters.frequencyPenalty,
    presence_penalty: parameters.presencePenalty,
  }),
)
await Sentry.flush(5000)
await Sentry.close(5000)
