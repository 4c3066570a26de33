import { GatewayError } from '../../src/core/errors.ts'
import type { DialectName, JsonObject } from '../../src/core/events.ts'
import type { InferenceRequest } from '../../src/core/request.ts'
import type { Egress } from '../../src/dialects/dialect.ts'
import { egresses } from '../../src/dialects/index.ts'
import { estimatePrompt } from '../../src/inference/admission/estimate.ts'
import { inputOf } from '../../src/inference/content-log/input.ts'
import { withFilters } from '../../src/inference/filters/input/apply.ts'
import { checkUserUrls } from '../../src/inference/request/user-urls.ts'
import { cacheKey } from '../../src/inference/response-cache/key.ts'
import { parseOutboundAllow } from '../../src/net/address.ts'
import { attemptFor } from '../dialects/attempt.ts'
import { guardrailOf } from '../inference/filters/output/guarding.ts'
import { caller } from '../inference/fixture.ts'

/** Everything that happens to the body of a conversation between the caller and each dialect of providers. */

const guarded = caller({ guardrails: [guardrailOf([], [{ pattern: 'secret-[0-9]+', action: 'redact' }])] })
const allow = parseOutboundAllow([])

/** Models by whose names dialects decide how to write. */
const SPEAKERS: readonly (readonly [DialectName, Egress, upstreamId: string])[] = [
  ['chat', egresses.chat, 'model'],
  ['responses', egresses.responses, 'gpt-5'],
  ['messages', egresses.messages, 'claude-sonnet-4-5'],
  ['gemini', egresses.gemini, 'gemini-2.5-flash'],
  ['gemini', egresses.gemini, 'gemini-3-pro'],
  ['converse', egresses.converse, 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ['converse', egresses.converse, 'us.amazon.nova-pro-v1:0'],
  ['cohere', egresses.cohere, 'command-a-03-2025'],
]

export interface Stage {
  name: string
  /** `request`: the parsed body. */
  run(body: JsonObject, request: InferenceRequest): unknown
}

/** The steps of a request other than parsing. */
export const stages: readonly Stage[] = [
  { name: 'filter', run: (body) => withFilters(body, guarded, false) },
  { name: 'check addresses', run: (body) => checkUserUrls(body, allow) },
  { name: 'estimate', run: (_, request) => estimatePrompt(request) },
  { name: 'key of the cache', run: (_, request) => cacheKey(request, guarded) },
  { name: 'content for the log', run: (_, request) => inputOf(request) },
  ...SPEAKERS.map(
    ([dialect, egress, upstreamId]): Stage => ({
      name: `write to ${upstreamId} in ${dialect}`,
      run(_, request) {
        const attempt = attemptFor(dialect, { endpoint: { upstreamId } })
        return egress.build(request, attempt).breakpoints?.()
      },
    }),
  ),
]

/** Null for a rejection, which must be as fast as an answer. */
export async function unlessRefused<T>(work: () => T | Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return null
  }
}
