import { GatewayError } from '../../core/errors.ts'
import type {
  Finish,
  FrameBatch,
  InferenceEvent,
  InferenceFrame,
  InferenceFrames,
  JsonObject,
} from '../../core/events.ts'
import { turnAfterLong } from '../../core/turn.ts'
import type { Repair } from './cursor.ts'
import { type Healed, heal } from './heal.ts'

/** What is to be healed, and how. */
export interface Healing {
  /** Null: any JSON will do. */
  readonly schema: JsonObject | null
  readonly isStream: boolean
  /** Asks the model once more for an answer that cannot be repaired; absent: the caller did not ask for that. */
  readonly again?: ((answer: string, reason: string) => Promise<string>) | undefined
  /** The entry of the routing metadata. */
  report(data: JsonObject): void
}

/** What happened to one choice, as the metadata shows it. */
interface Outcome {
  readonly choice: number
  readonly result: Healed['kind']
  readonly repairs?: readonly (Repair | 'asked_again')[]
  readonly unchecked?: readonly string[]
}

/**
 * The frames of a reply whose answers are the JSON that was asked for. The frames are held back from the first text on,
 * because an answer can be judged only when it has ended. Whole answers pass with their frames as they came. A reply
 * with a repaired answer is written anew: events that only repeat it in the provider's own words are left out.
 */
export async function* healedFrames(frames: InferenceFrames, healing: Healing): AsyncGenerator<FrameBatch> {
  const held: InferenceFrame[] = []
  const answers = createAnswers()
  let size = 0
  for await (const batch of frames) {
    const passing: InferenceFrame[] = []
    for (const frame of batch) {
      for (const event of frame.events) answers.take(event)
      if (held.length === 0 && !frame.events.some(isHeld)) passing.push(frame)
      else {
        held.push(frame)
        size += sizeOf(frame)
      }
    }
    if (size > MOST_HELD)
      throw new GatewayError(502, `response-healing: the reply is longer than ${MOST_HELD} characters`)
    if (passing.length > 0) yield passing
  }
  const { texts, outcomes } = await judged(answers.toHeal(), healing)
  if (healing.isStream || outcomes.some(({ result }) => result !== 'whole')) {
    healing.report({ ...(healing.isStream ? { held_back: true } : {}), choices: outcomes })
  }
  if (texts.size > 0) yield rewritten(held, texts)
  else if (held.length > 0) yield held
}

/** Characters of a reply that is held back. */
const MOST_HELD = 4_000_000
/** Of a frame without text. */
const FRAME_SIZE = 8

function sizeOf({ events }: InferenceFrame): number {
  let size = FRAME_SIZE
  for (const event of events) {
    if ('text' in event) size += event.text.length
    else if ('json' in event) size += event.json.length
  }
  return size
}

/** Text, and what a provider's own form repeats of it. */
const isHeld = (event: InferenceEvent): boolean =>
  event.type === 'text-delta' || event.type === 'response-end' || isRepeating(event)

/** Native events of these dialects contain the answer; those of chat have only unknown fields. */
const isRepeating = (event: InferenceEvent): boolean => event.type === 'native' && event.dialect !== 'chat'

interface Answer {
  choice: number
  readonly pieces: string[]
  hasOther: boolean
  finish: Finish['reason'] | null
}

/** Collects the text of each choice. */
function createAnswers() {
  const answers = new Map<number, Answer>()
  function of(choice: number): Answer {
    const known = answers.get(choice)
    if (known) return known
    const made: Answer = { choice, pieces: [], hasOther: false, finish: null }
    answers.set(choice, made)
    return made
  }
  return {
    take(event: InferenceEvent): void {
      switch (event.type) {
        case 'text-delta':
          of(event.choice).pieces.push(event.text)
          return
        // A call or a refusal is an answer of another kind.
        case 'tool-call-start':
        case 'image':
          of(event.choice).hasOther = true
          return
        case 'refusal-delta':
          of(event.choice).hasOther ||= event.text !== ''
          return
        case 'response-end':
          for (const { choice, reason } of event.finishes) of(choice).finish = reason
      }
    },
    toHeal: (): { choice: number; text: string }[] =>
      [...answers.values()]
        .filter(({ hasOther, finish }) => !hasOther && finish !== 'content_filter' && finish !== 'tool_calls')
        .map(({ choice, pieces }) => ({ choice, text: pieces.join('') })),
  }
}

async function judged(
  answers: readonly { choice: number; text: string }[],
  healing: Healing,
): Promise<{ texts: Map<number, string>; outcomes: Outcome[] }> {
  const texts = new Map<number, string>()
  const outcomes: Outcome[] = []
  for (const { choice, text } of answers) {
    const startedAt = performance.now()
    const healed = heal(text, healing.schema)
    const { outcome, changed } =
      healed.kind === 'failed'
        ? await askedAgain(choice, text, healed.reason, healing)
        : outcomeOf(choice, healed)
    outcomes.push(outcome)
    if (changed !== undefined) texts.set(choice, changed)
    await turnAfterLong(startedAt)
  }
  return { texts, outcomes }
}

function outcomeOf(
  choice: number,
  healed: Exclude<Healed, { kind: 'failed' }>,
): { outcome: Outcome; changed?: string } {
  const { kind, unchecked } = healed
  const outcome = { choice, result: kind, ...(unchecked.length > 0 ? { unchecked } : {}) }
  if (healed.kind === 'whole') return { outcome }
  return { outcome: { ...outcome, repairs: healed.repairs }, changed: healed.text }
}

async function askedAgain(
  choice: number,
  text: string,
  reason: string,
  { again, schema, report }: Healing,
): Promise<{ outcome: Outcome; changed?: string }> {
  const second = again === undefined ? undefined : await again(text, reason)
  const healed = second === undefined ? undefined : heal(second, schema)
  if (second === undefined || healed === undefined || healed.kind === 'failed') {
    const last = healed?.kind === 'failed' ? healed.reason : reason
    report({ choices: [{ choice, result: 'failed', reason: last }] })
    throw notHealed(last, healed !== undefined)
  }
  const { outcome } = outcomeOf(choice, healed)
  const repairs = healed.kind === 'healed' ? healed.repairs : []
  return {
    outcome: { ...outcome, result: 'healed', repairs: ['asked_again', ...repairs] },
    changed: healed.kind === 'healed' ? healed.text : second,
  }
}

const notHealed = (reason: string, isSecond: boolean): GatewayError =>
  new GatewayError(
    502,
    `The model's answer ${reason}. It could not be repaired${isSecond ? ', and its second answer neither' : '; {"id": "response-healing", "retry": 1} asks the model once more'}`,
    { metadata: { error_type: 'provider_unavailable', plugin: 'response-healing' } },
  )

/** Frames are sent in batches: a reply may have hundreds of thousands. */
function rewritten(frames: readonly InferenceFrame[], texts: ReadonlyMap<number, string>): InferenceFrame[] {
  const unwritten = new Map(texts)
  return frames.flatMap(({ events }) => {
    const kept = events.flatMap((event): InferenceEvent[] => {
      if (isRepeating(event)) return []
      if (!('choice' in event) || !texts.has(event.choice)) {
        return event.type === 'response-end' ? [...textsOf(unwritten), event] : [event]
      }
      // The positions of tokens and citations are those of the former text.
      if (event.type === 'logprobs') return []
      if (event.type !== 'text-delta') return [event]
      const text = unwritten.get(event.choice)
      unwritten.delete(event.choice)
      return text === undefined ? [] : [{ ...event, text }]
    })
    return kept.length === 0 ? [] : [{ events: kept }]
  })
}

/** Texts of choices that had none. */
function textsOf(unwritten: Map<number, string>): InferenceEvent[] {
  const events = [...unwritten].map(([choice, text]) => ({ type: 'text-delta' as const, choice, text }))
  unwritten.clear()
  return events
}
