import { UpstreamError } from '../../core/errors.ts'
import type { Finish, InferenceEvent, JsonObject } from '../../core/events.ts'
import { asFilledText, asObject, isObject, restOf } from '../../core/json.ts'
import { words } from '../../core/words.ts'
import { newProgress, type ReplyProgress } from '../event-decoder.ts'
import { finishReasonOf } from '../finish.ts'
import { errorInReply, isErrorBody } from '../read-error.ts'
import {
  type ChoiceNative,
  type ChoiceState,
  finishOf,
  MOST_REPORTED,
  newChoice,
  readChoice,
} from './decode-choice.ts'
import { type Citations, createCitations } from './decode-details.ts'
import { readUsage } from './usage.ts'
import type { ChatNative } from './write-message.ts'

/** The state of one reply between its chunks. */
interface ReplyState extends ReplyProgress {
  readonly choices: ChoiceState[]
  readonly citations: Citations
  /** Unknown top-level fields as last emitted, as JSON: chunks repeat them. */
  reported: Map<string, string> | null
  serviceTier: string | null
}

export const newReply = (status: number): ReplyState => ({
  ...newProgress(status),
  choices: [],
  citations: createCitations(),
  reported: null,
  serviceTier: null,
})

/** Fields that are read here; the others are forwarded unchanged. The last two are padding and are dropped. */
const KNOWN: ReadonlySet<string> = new Set(words('id object created model choices usage error obfuscation p'))

/** Reads one chunk, or one complete body, into events. An error in it sets `failure`; its other content is still read. */
export function readChunk(
  chunk: unknown,
  state: ReplyState,
  isBody: boolean,
  events: InferenceEvent[],
): void {
  if (isErrorBody(chunk)) state.failure = errorInReply(chunk, state.status)
  if (!isObject(chunk)) {
    state.failure ??= new UpstreamError('malformed', 'an event of the stream is not an object', state)
    return
  }
  const entries = entriesOf(chunk['choices'])
  start(chunk, entries.length > 0, state, events)
  let natives: ChoiceNative[] | undefined
  let position = 0
  for (const entry of entries) {
    const choice = choiceAt(entry, position++, state)
    const native = readChoice(entry, choice, isBody, events)
    if (native) {
      natives ??= []
      natives.push(native)
    }
    state.failure ??= brokenOff(entry, choice, state.status)
  }
  state.citations.addSources(chunk['citations'], chunk['search_results'], events)
  // What else an error says of itself is the provider's own business.
  if (state.failure === null) readNative(chunk, natives, state, isBody, events)
  readUsageOf(chunk, entries, state, events)
}

/** Azure's first chunk has an empty id and model and no choices: they are taken from the first chunk that has them. */
function start(chunk: JsonObject, hasEntries: boolean, state: ReplyState, events: InferenceEvent[]): void {
  if (state.hasStarted) return
  const upstreamId = textOf(chunk['id'])
  const model = textOf(chunk['model'])
  if (!hasEntries && (upstreamId === null || model === null)) return
  state.hasStarted = true
  const created = Number.isSafeInteger(chunk['created']) ? Number(chunk['created']) : 0
  const serviceTier = textOf(chunk['service_tier'])
  events.push({
    type: 'response-start',
    upstreamId,
    model,
    created: created > 0 ? created : null,
    ...(serviceTier === null ? {} : { serviceTier }),
  })
}

/** More choices than any provider offers would be an attempt to fill the memory. */
const MAX_CHOICES = 128

function choiceAt(
  entry: JsonObject,
  position: number,
  { choices, citations, status }: ReplyState,
): ChoiceState {
  const { index: raw } = entry
  const index = typeof raw === 'number' && Number.isSafeInteger(raw) && raw >= 0 ? raw : position
  const known = choices.find((each) => each.index === index)
  if (known) return known
  if (choices.length >= MAX_CHOICES)
    throw new UpstreamError('malformed', 'the reply has too many choices', { status })
  const choice = newChoice(index, citations)
  choices.push(choice)
  return choice
}

function entriesOf(choices: unknown): readonly JsonObject[] {
  if (!Array.isArray(choices)) return []
  return choices.every(isObject) ? choices : choices.filter(isObject)
}

/** A choice can fail alone: OpenRouter puts the error into it. A finish reason of `error` gives no details. */
function brokenOff(entry: JsonObject, choice: ChoiceState, status: number): UpstreamError | null {
  if (entry['error'] !== undefined) {
    const reported = { error: entry['error'] }
    if (isErrorBody(reported)) return errorInReply(reported, status)
  }
  const { finishReason } = choice
  if (finishReason === null || finishReasonOf(finishReason, false) !== 'error') return null
  const kind = finishReason === 'insufficient_system_resource' ? 'overloaded' : 'server'
  return new UpstreamError(kind, 'the provider broke the reply off', { status, code: finishReason })
}

function readNative(
  chunk: JsonObject,
  natives: ChoiceNative[] | undefined,
  state: ReplyState,
  isBody: boolean,
  events: InferenceEvent[],
): void {
  const rest = restOf(chunk, KNOWN)
  const top = rest && (isBody ? rest : changed(rest, state))
  if (!top && !natives) return
  const data: ChatNative = {}
  if (top) data.chunk = top
  if (natives) data.choices = natives
  events.push({ type: 'native', dialect: 'chat', data })
}

/** Longer values are emitted each time. */
const LONGEST_REPORTED = 10_000

/** Chunks repeat `system_fingerprint` and its like hundreds of times: each value is emitted once. */
function changed(rest: JsonObject, state: ReplyState): JsonObject | undefined {
  state.reported ??= new Map()
  const { reported } = state
  const kept: [string, unknown][] = []
  for (const [key, value] of Object.entries(rest)) {
    const json = JSON.stringify(value)
    if (reported.get(key) === json) continue
    if (json.length <= LONGEST_REPORTED && (reported.size < MOST_REPORTED || reported.has(key)))
      reported.set(key, json)
    kept.push([key, value])
  }
  return kept.length > 0 ? Object.fromEntries(kept) : undefined
}

function usageIn(chunk: JsonObject, entry: JsonObject | undefined): JsonObject | undefined {
  const { usage, x_groq } = chunk
  return asObject(usage) ?? asObject(asObject(x_groq)?.['usage']) ?? asObject(entry?.['usage'])
}

/** Running totals and repeats: the last one counts. Groq has a second place for it, Moonshot a third. */
function readUsageOf(
  chunk: JsonObject,
  entries: readonly JsonObject[],
  state: ReplyState,
  events: InferenceEvent[],
): void {
  const raw = usageIn(chunk, entries[0])
  state.serviceTier = textOf(chunk['service_tier']) ?? textOf(raw?.['service_tier']) ?? state.serviceTier
  const usage = readUsage(raw)
  if (usage) events.push({ type: 'usage', usage, serviceTier: state.serviceTier })
}

/** Every choice has its finish reason; only usage may follow. */
export const isFinished = ({ choices }: ReplyState): boolean =>
  choices.length > 0 && choices.every((choice) => choice.finishReason !== null)

/** The end of a complete reply. Throws `malformed` for a tool call that was never named. */
export function endReply({ choices }: ReplyState, events: InferenceEvent[]): void {
  const finishes: Finish[] = []
  for (const choice of choices.length > 1 ? choices.toSorted((a, b) => a.index - b.index) : choices) {
    const finish = finishOf(choice)
    finishes.push(finish)
    choice.calls?.end(finish.reason === 'length', events)
  }
  events.push({ type: 'response-end', finishes })
}

const textOf = (value: unknown): string | null => asFilledText(value) ?? null
