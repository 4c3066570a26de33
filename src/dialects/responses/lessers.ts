import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { Lesser } from '../dialect.ts'
import { ITEM } from './items.ts'

export const ENCRYPTED_REASONING = 'reasoning.encrypted_content'

/** `Your organization must be verified to generate reasoning summaries` (public issues of 2025 and 2026). */
const UNVERIFIED = /reasoning summar|reasoning\.summary/i
/** `Encrypted content is not supported with this model` (public issues of 2025 and 2026). */
const NOT_ENCRYPTED = /encrypted[ _]content is not supported/i
/**
 * What another account or provider has encrypted, after a fail-over or with a new key: `The encrypted content … could
 * not be verified` (OpenAI, Azure), `Could not decrypt the provided encrypted_content` (xAI; public issues of 2026).
 */
const FOREIGN = /encrypted[ _]content/i

/** What providers of this dialect refuse that the caller can do without. */
export function lessersOf(body: JsonObject, request: InferenceRequest): Lesser[] | undefined {
  const { reasoning, include, input } = body
  const lessers: Lesser[] = []
  if (isObject(reasoning) && reasoning.summary !== undefined && request.reasoning?.summary === undefined)
    lessers.push(WITHOUT_SUMMARY)
  if (Array.isArray(include) && include.includes(ENCRYPTED_REASONING)) lessers.push(WITHOUT_ENCRYPTING)
  if (Array.isArray(input) && input.some(isEncrypted)) lessers.push(WITHOUT_ENCRYPTED)
  return lessers.length === 0 ? undefined : lessers
}

const WITHOUT_SUMMARY: Lesser = {
  without: 'reasoning.summary',
  isRefused: (reason) => UNVERIFIED.test(reason),
  bodyFrom({ reasoning, ...others }) {
    const { summary: _, ...rest } = isObject(reasoning) ? reasoning : {}
    return Object.keys(rest).length > 0 ? { ...others, reasoning: rest } : others
  },
}

const WITHOUT_ENCRYPTING: Lesser = {
  without: `include.${ENCRYPTED_REASONING}`,
  isRefused: (reason) => NOT_ENCRYPTED.test(reason),
  bodyFrom({ include, ...others }) {
    const rest = Array.isArray(include) ? include.filter((name: unknown) => name !== ENCRYPTED_REASONING) : []
    return rest.length > 0 ? { ...others, include: rest } : others
  },
}

const WITHOUT_ENCRYPTED: Lesser = {
  without: 'input.reasoning',
  isRefused: (reason) => FOREIGN.test(reason) && !NOT_ENCRYPTED.test(reason),
  bodyFrom: (body) => ({
    ...body,
    input: Array.isArray(body.input) ? body.input.filter((item: unknown) => !isEncrypted(item)) : body.input,
  }),
}

const isEncrypted = (item: unknown): boolean =>
  isObject(item) &&
  item.type === ITEM.reasoning &&
  isString(item.encrypted_content) &&
  item.encrypted_content !== ''
