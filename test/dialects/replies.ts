import type { InferenceFrame, InferenceFrames } from '../../src/core/events.ts'
import type { Closing, InferenceResult, ReplyContext } from '../../src/core/result.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import type { Ingress } from '../../src/dialects/dialect.ts'
import { collect } from '../../src/inference/reply/collect.ts'
import { REQUEST } from './request.ts'

/** The context and the end of a reply, for writers. */

export const contextOf = (more: Partial<ReplyContext> = {}): ReplyContext => ({
  generationId: 'gen-1',
  created: 1_700_000_000,
  model: 'acme/large',
  providerName: 'Acme',
  request: REQUEST,
  hideReasoning: false,
  ...more,
})

export const closingOf = (more: Partial<Closing> = {}): Closing => ({
  finishes: [{ choice: 0, reason: 'stop', native: null }],
  usage: NO_USAGE,
  costNanoUsd: 1_500,
  promptCostNanoUsd: 1_000,
  completionCostNanoUsd: 500,
  isByok: false,
  serviceTier: null,
  serviceMetadata: null,
  ...more,
})

/** The cost of `closingOf()` as chat and Messages write it. */
export const COST = {
  cost: 0.0000015,
  is_byok: false,
  cost_details: {
    upstream_inference_cost: null,
    upstream_inference_prompt_cost: 0.000001,
    upstream_inference_completions_cost: 0.0000005,
  },
}

/** An end whose fields all have a value. */
export const CLOSING: Closing = closingOf({
  finishes: [{ choice: 0, reason: 'stop', native: 'end_turn' }],
  usage: { ...NO_USAGE, inputTokens: 7, cacheReadTokens: 3, outputTokens: 4, reasoningTokens: 1 },
  serviceTier: 'default',
})

/** Collects the usage and the finishes of a reply from its frames. */
function watchClosing() {
  const closing = closingOf()
  return {
    closing,
    see({ events }: InferenceFrame): void {
      for (const event of events) {
        if (event.type === 'usage') {
          closing.usage = event.usage
          closing.serviceTier = event.serviceTier ?? closing.serviceTier
        }
        if (event.type === 'response-end') closing.finishes = event.finishes
      }
    },
  }
}

/** The text of a stream; if the frames break off, it ends as a failure. */
export async function streamOf(
  writer: ReturnType<Ingress['writeStream']>,
  frames: InferenceFrames,
): Promise<string> {
  const { closing, see } = watchClosing()
  let text = ''
  try {
    for await (const batch of frames) {
      for (const frame of batch) {
        see(frame)
        text += writer.write(frame)
      }
    }
  } catch {
    return text + writer.fail({ status: 502, message: 'The provider failed' })
  }
  return text + writer.end(closing)
}

/** The arguments of a writer of unary replies. */
export async function resultOf(
  frames: InferenceFrames,
): Promise<{ result: InferenceResult; closing: Closing }> {
  const { closing, see } = watchClosing()
  return { result: await collect(frames, see), closing }
}
