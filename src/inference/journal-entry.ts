import type { Attempt } from '../core/attempt.ts'
import { type JournalEntry, type Label, TAG_LABEL, USER_LABEL } from '../core/generation.ts'
import { isObject } from '../core/json.ts'
import { pricingAt } from '../core/pricing.ts'
import type { RoutedRequest } from '../core/request.ts'
import { NO_USAGE } from '../core/usage.ts'
import type { Admission } from './admission/admit.ts'
import { pricingOf } from './admission/fit.ts'
import { costOf } from './admission/price.ts'
import { tierOf } from './admission/tier.ts'
import { callerTraceOf } from './export-note.ts'
import type { Generation, Opening } from './generation.ts'

/** The row that is settled if the process crashes during `attempt`. */
export function journalEntry(
  generationId: string,
  opening: Opening,
  admission: Admission,
  attempt: Attempt | undefined,
): JournalEntry {
  if (attempt === undefined) throw new Error('a plan without attempts')
  const { promptOnly, promptTokensEstimate } = admission
  const prompt = promptOnly ?? { ...NO_USAGE, inputTokens: promptTokensEstimate }
  const { request, startedAt } = opening
  const pricing = pricingAt(pricingOf(attempt), tierOf(attempt, admission, []), startedAt)
  return {
    ...callersFields(opening, request),
    generationId,
    modelId: attempt.model.id,
    providerSlug: attempt.provider.slug,
    providerName: attempt.provider.name,
    endpointId: attempt.endpoint.id,
    apiType: request.apiType,
    streamed: request.stream,
    isByok: attempt.byokKey !== undefined,
    guardrails: request.pipeline,
    promptTokensEstimate,
    promptMedia: admission.promptMedia,
    promptCostNanoUsd: Math.min(heldFor(attempt, admission), costOf(prompt, pricing).totalNanoUsd),
  }
}

/** What a row has of its caller. A step has the labels, the user and the session of the request that it is a step of. */
export function callersFields(
  {
    caller,
    origin,
    parent,
    startedAt,
    incoming,
  }: Pick<Opening, 'caller' | 'origin' | 'parent' | 'startedAt' | 'incoming'>,
  request: RoutedRequest,
) {
  const asked = parent?.request ?? request
  return {
    keyHash: caller.key.hash,
    workspaceId: caller.workspace.id,
    origin: origin.origin,
    httpReferer: origin.httpReferer,
    title: origin.title,
    userAgent: origin.userAgent,
    requestId: origin.requestId,
    sessionId: asked.sessionId ?? null,
    presetId: asked.presetId ?? null,
    parent: parent && { id: parent.id, kind: parent.kind },
    trace: asked.trace,
    callerTrace: callerTraceOf(incoming.trace),
    externalUser: asked.user ?? null,
    labels: labelsOf(asked),
    startedAt,
  } satisfies Partial<JournalEntry>
}

/** The amount reserved for the account that `attempt` uses. */
export const heldFor = ({ byokKey }: Attempt, { hold }: Admission): number =>
  byokKey === undefined ? (hold.sharedNanoUsd ?? hold.amountNanoUsd) : hold.amountNanoUsd

/** Updates the journal row at a fail-over, so that a crash is charged for the new endpoint. */
export function journalAttempt(generation: Generation, attempt: Attempt): void {
  const { id, opening, admission, deps } = generation
  generation.journal = journalEntry(id, opening, admission, attempt)
  deps.ledger.journal(generation.journal)
}

/** The limits of the dialects that check `metadata`. */
const MOST_TAGS = 16
const MOST_NAME_CHARACTERS = 64
/** The Messages API sends the request's user in this field of `metadata`. */
const USER_FIELD = 'user_id'

/**
 * The labels of a request: its `user`, and each string of its `metadata`; undefined without any. Halves of a character become
 * U+FFFD, as the database makes them, and a name has one value: otherwise sums by label would differ from their rows.
 */
function labelsOf({ user, dialect, body }: RoutedRequest): readonly Label[] | undefined {
  const { metadata } = body
  if (user === undefined && !isObject(metadata)) return undefined
  const labels = new Map(user === undefined ? [] : [[USER_LABEL, user.toWellFormed()]])
  for (const [name, value] of Object.entries(isObject(metadata) ? metadata : {})) {
    if (labels.size > MOST_TAGS) break
    if (typeof value !== 'string' || value === '' || name === '' || name.length > MOST_NAME_CHARACTERS)
      continue
    if (dialect === 'messages' && name === USER_FIELD) continue
    labels.set(`${TAG_LABEL}${name.toWellFormed()}`, value.toWellFormed())
  }
  return labels.size === 0 ? undefined : [...labels]
}
