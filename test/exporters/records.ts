/** Records as a delivery makes them. */
import type { BatchContext } from '../../src/exporters/kind.ts'
import type { ExportContent, ExportRecord } from '../../src/exporters/record.ts'
import { traceIdOf } from '../../src/exporters/span-ids.ts'

export const STARTED_AT = Date.UTC(2026, 10, 23, 8)

/** A streamed chat completion that fell back once and was answered; with everything that a destination may see. */
export function fullRecord(changes: Partial<ExportRecord> = {}): ExportRecord {
  const id = changes.id ?? 'gen-019a0000000070008000000000000001'
  return {
    id,
    requestId: 'req-019a0000000070008000000000000002',
    workspace: { id: '0193c0de-0000-7000-8000-000000000001', name: 'Research' },
    apiType: 'completions',
    route: '/chat/completions',
    streamed: true,
    model: 'openai/gpt-4.1-mini',
    requestedModel: 'openai/gpt-4.1',
    provider: { slug: 'azure', name: 'Azure', host: 'eu.models.example:8443' },
    endpointId: 'azure/gpt-4.1-mini',
    upstreamId: 'chatcmpl-1',
    serviceTier: 'default',
    dataRegion: 'europe',
    parameters: PARAMETERS,
    startedAt: STARTED_AT,
    firstContentAt: STARTED_AT + 450,
    endedAt: STARTED_AT + 1_250,
    attempts: ATTEMPTS,
    usage: USAGE,
    cost: {
      totalNanoUsd: 125_000,
      promptNanoUsd: 75_000,
      completionNanoUsd: 50_000,
      cacheDiscountNanoUsd: 5_000,
      isByok: false,
    },
    finishReason: 'stop',
    nativeFinishReason: 'completed',
    truth: 'complete',
    error: null,
    sessionId: 'session-1',
    presetId: 'preset-1',
    identity: { user: 'user-1', keyName: 'Nightly jobs', keyHash: 'a'.repeat(64) },
    requestContext: {
      origin: 'https://app.example',
      httpReferer: 'https://app.example/chat',
      title: 'App',
      userAgent: 'app/1.0',
    },
    trace: {
      traceId: traceIdOf(id),
      parentSpanId: null,
      traceState: null,
      traceName: 'answer a question',
      spanName: null,
      generationName: null,
      givenTraceId: null,
      extra: { release: '1.4', retries: 2, nested: { a: [1] } },
    },
    metadata: { team: 'blue' },
    parent: null,
    cacheSourceId: null,
    cacheSourceTraceId: null,
    guardrails: [{ filter: 'email', action: 'redact', count: 1 }],
    content: CONTENT,
    contentMissing: null,
    ...changes,
  }
}

const USAGE: ExportRecord['usage'] = {
  promptTokens: 120,
  completionTokens: 34,
  cacheReadTokens: 64,
  cacheWriteTokens: 16,
  reasoningTokens: 8,
}

const PARAMETERS: ExportRecord['parameters'] = {
  temperature: 1,
  topP: 0.9,
  topK: 40,
  maxTokens: 256,
  frequencyPenalty: 0.5,
  presencePenalty: -0.5,
  seed: 7,
  stop: ['END', ''],
  choices: 2,
  reasoningEffort: 'low',
  outputType: 'json',
  tools: 1,
}

const ATTEMPTS: ExportRecord['attempts'] = [
  {
    providerSlug: 'openai',
    providerName: 'OpenAI',
    model: 'openai/gpt-4.1',
    endpointId: 'openai/gpt-4.1',
    startedAt: STARTED_AT + 5,
    endedAt: STARTED_AT + 105,
    status: 429,
    errorType: 'rate_limited',
    isByok: true,
  },
  {
    providerSlug: 'azure',
    providerName: 'Azure',
    model: 'openai/gpt-4.1-mini',
    endpointId: 'azure/gpt-4.1-mini',
    startedAt: STARTED_AT + 110,
    endedAt: STARTED_AT + 1_250,
    status: 200,
    errorType: null,
    isByok: false,
  },
]

const CONTENT: ExportContent = {
  input: {
    messages: [
      { role: 'system', content: 'Answer briefly.' },
      { role: 'user', content: [{ type: 'text', text: 'What is the weather in Paris?' }] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'rainy, 14 °C' },
    ],
  },
  output: { completion: 'It rains in Paris, at 14 °C.', reasoning: 'The tool said so.' },
  tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }],
}

export const contextFor = (
  fields: Readonly<Record<string, string>>,
  changes: Partial<BatchContext> = {},
): BatchContext => ({
  destinationId: '0193c0de-0000-7000-8000-000000000002',
  config: { fields, headers: null },
  first: 64,
  last: 66,
  now: STARTED_AT + 5_000,
  service: { version: '9.9.9', instanceId: 'instance-1' },
  isRepeat: false,
  isTest: false,
  ...changes,
})
