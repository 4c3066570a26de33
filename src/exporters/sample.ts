import { newGenerationId, newRequestId } from '../core/ids.ts'
import type { ExportRecord, ExportTrace, ExportUsage } from './record.ts'
import { traceIdOf } from './span-ids.ts'

const NO_TRACE: Omit<ExportTrace, 'traceId' | 'traceName'> = {
  parentSpanId: null,
  traceState: null,
  spanName: null,
  generationName: null,
  givenTraceId: null,
  extra: {},
}
const USAGE: ExportUsage = {
  promptTokens: 9,
  completionTokens: 6,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
}

/** The event of POST …/test: a small generation that no provider has answered. `now` is in milliseconds since 1970. */
export function sampleRecord(workspace: ExportRecord['workspace'], now: number): ExportRecord {
  const id = newGenerationId()
  const startedAt = now - 800
  return {
    id,
    requestId: newRequestId(),
    workspace,
    apiType: 'completions',
    route: '/chat/completions',
    streamed: true,
    model: 'sluice/demo',
    requestedModel: 'sluice/demo',
    provider: { slug: 'sluice', name: 'Sluice', host: null },
    endpointId: 'sluice/demo',
    upstreamId: null,
    serviceTier: null,
    dataRegion: 'global',
    parameters: { temperature: 0.5, maxTokens: 64 },
    startedAt,
    firstContentAt: startedAt + 200,
    endedAt: now,
    attempts: [
      {
        providerSlug: 'sluice',
        providerName: 'Sluice',
        model: 'sluice/demo',
        endpointId: 'sluice/demo',
        startedAt,
        endedAt: now,
        status: 200,
        errorType: null,
        isByok: false,
      },
    ],
    usage: USAGE,
    cost: null,
    finishReason: 'stop',
    nativeFinishReason: 'stop',
    truth: 'complete',
    error: null,
    sessionId: null,
    presetId: null,
    identity: null,
    requestContext: null,
    trace: { ...NO_TRACE, traceId: traceIdOf(id), traceName: 'sluice.test' },
    metadata: {},
    parent: null,
    cacheSourceId: null,
    cacheSourceTraceId: null,
    guardrails: [],
    content: {
      input: { messages: [{ role: 'user', content: 'Does this destination receive events?' }] },
      output: { completion: 'This is a test event of Sluice.', reasoning: null },
      tools: null,
    },
    contentMissing: null,
  }
}
