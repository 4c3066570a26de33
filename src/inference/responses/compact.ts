import type { InferenceRequest } from '../../core/request.ts'
import type { Pricing } from '../../core/snapshot.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'
import {
  type Compaction,
  compactIngress,
  noCompact,
  responsesCompact,
} from '../../dialects/responses/index.ts'
import { deferLine } from '../../http/access-log.ts'
import { type Incoming, keepOpen } from '../../http/incoming.ts'
import { estimatePrompt } from '../admission/estimate.ts'
import { runOperation } from '../operations/run.ts'
import type { Task } from '../operations/task.ts'
import { needsOf } from '../routing/needs.ts'
import { type ResponsesDeps, receive } from './create.ts'

/**
 * Priced by tokens. A compaction has no output bound, but is shorter than its input: the tokens of the input are reserved
 * for it, at least 4,096.
 */
const compaction: Task<InferenceRequest, Compaction> = {
  ingress: compactIngress,
  egresses: {
    responses: responsesCompact,
    chat: noCompact,
    messages: noCompact,
    gemini: noCompact,
    converse: noCompact,
    cohere: noCompact,
  },
  needs: (request) => needsOf(request, estimatePrompt(request)),
  bound,
  count: (request, _, reported, pricing) =>
    reported === null
      ? { usage: bound(request, pricing), source: 'estimated' }
      : { usage: reported, source: 'provider' },
  logged: ({ output }) => output,
}

const LEAST_OUTPUT_TOKENS = 4_096
/** More than any model generates. */
const MOST_OUTPUT_TOKENS = 128_000

function bound(request: InferenceRequest, _: Pricing): Usage {
  const { text, audio, image } = estimatePrompt(request)
  const outputTokens = Math.min(MOST_OUTPUT_TOKENS, Math.max(LEAST_OUTPUT_TOKENS, text))
  return { ...NO_USAGE, inputTokens: text, audioInputTokens: audio, imageInputTokens: image, outputTokens }
}

/** POST /responses/compact. */
export async function compactResponse(incoming: Incoming, deps: ResponsesDeps): Promise<Response> {
  const { request } = incoming
  const { opening } = await receive(incoming, deps)
  keepOpen(incoming)
  const response = await runOperation({ ...opening, signal: request.signal }, compaction, deps.run)
  deferLine(incoming)
  return response
}
