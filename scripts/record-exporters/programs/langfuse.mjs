import { LangfuseSpanProcessor } from '@langfuse/otel'
import { propagateAttributes, setLangfuseTracerProvider, startObservation } from '@langfuse/tracing'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { record, recorder } from './generation.mjs'

const processor = new LangfuseSpanProcessor({ publicKey: 'pk', secretKey: 'sk', baseUrl: recorder })
const provider = new NodeTracerProvider({ spanProcessors: [processor] })
provider.register()
setLangfuseTracerProvider(provider)
const { input, output } = record.content
const { usage, cost } = record
propagateAttributes(
  {
    userId: record.identity.user,
    sessionId: record.sessionId,
    traceName: record.trace.traceName,
    metadata: { release: '1.4', team: 'blue' },
  },
  () => {
    const generation = startObservation(
      'generation',
      {
        model: record.model,
        modelParameters: {
          temperature: record.parameters.temperature,
          max_tokens: record.parameters.maxTokens,
        },
        input: input.messages,
        output: output.completion,
        usageDetails: { input: usage.promptTokens, output: usage.completionTokens },
        costDetails: { total: cost.totalNanoUsd / 1e9 },
        completionStartTime: new Date(record.firstContentAt),
      },
      { asType: 'generation', startTime: new Date(record.startedAt) },
    )
    generation.end(new Date(record.endedAt))
  },
)
await processor.forceFlush()
await processor.shutdown()
