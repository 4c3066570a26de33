import type { Attempt } from '../../core/attempt.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { DialectCall, Egress } from '../../dialects/dialect.ts'

/** The fields of every dialect that hold what `InferenceRequest.rewritten` names. */
const REWRITTEN = [
  'messages',
  'system',
  'input',
  'instructions',
  'contents',
  'systemInstruction',
  'system_instruction',
  'tools',
  'tool_choice',
  'toolConfig',
  'tool_config',
]

/**
 * The call of a request whose messages or tools were changed after the parse, to a provider of the caller's dialect: the
 * caller's own body with those fields from the neutral request.
 */
export function buildRewritten(request: InferenceRequest, attempt: Attempt, egress: Egress): DialectCall {
  const own = egress.build(request, attempt)
  const neutral = egress.build({ ...request, dialect: null, body: {} }, attempt)
  const body = { ...own.body }
  for (const field of REWRITTEN) {
    if (neutral.body[field] !== undefined) body[field] = neutral.body[field]
    else delete body[field]
  }
  const headers = { ...neutral.headers, ...own.headers }
  return { ...own, headers, body, dropped: [...new Set([...own.dropped, ...neutral.dropped])] }
}
