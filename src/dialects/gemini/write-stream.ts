import type { InferenceEvent, InferenceFrame, JsonObject } from '../../core/events.ts'
import type { Closing, PublicError, ReplyContext } from '../../core/result.ts'
import type { StreamWriter } from '../dialect.ts'
import { oneLine } from '../json-text.ts'
import { viewMetadata } from '../usage.ts'
import { type HeldEnd, isGeminiNative, newHeldEnd, withoutEnd } from './chunks.ts'
import { writeLogprobs } from './decode-candidate.ts'
import { viewError } from './errors.ts'
import { viewUsage } from './usage.ts'
import { type CandidateParts, endParts, newParts, partsOf } from './write-parts.ts'
import { viewEnd } from './write-reply.ts'

/** The form of the stream: server-sent events, or the entries of one JSON list. */
export type StreamForm = 'events' | 'list'

interface StreamState {
  readonly reply: ReplyContext
  readonly form: StreamForm
  readonly candidates: Map<number, CandidateParts>
  readonly held: HeldEnd
  /** The provider has the same dialect: its chunks are relayed. */
  isRelay: boolean
  hasBegun: boolean
}

/**
 * Writes an answer as Google's chunks. Chunks of a provider of the same dialect are relayed, except for the id, the model
 * and their end. The end (`finishReason`, usage) is one more chunk, written after the generation is on the ledger. There
 * is no terminal marker. After `end` or `fail` every method returns ''.
 */
export function createStreamWriter(reply: ReplyContext, form: StreamForm): StreamWriter {
  const state: StreamState = {
    reply,
    form,
    candidates: new Map(),
    held: newHeldEnd(),
    isRelay: false,
    hasBegun: false,
  }
  const tail = oneLine(JSON.stringify(tailOf(reply))).slice(1)
  let isOver = false
  return {
    // This dialect has no field that asks for it.
    echo: () => '',
    write(frame) {
      if (isOver) return ''
      const jsons = frame.plainText?.jsons
      if (jsons && !state.isRelay) return spliced(frame, jsons, tail, state)
      return writeFrame(frame, state)
    },
    end(closing) {
      if (isOver) return ''
      isOver = true
      return writeEnd(closing, state)
    },
    fail(error) {
      if (isOver) return ''
      isOver = true
      return writeFailure(error, state)
    },
  }
}

/** The last fields of every chunk. */
const tailOf = ({ model, generationId }: ReplyContext): JsonObject => ({
  modelVersion: model,
  responseId: generationId,
})

const chunkOf = (fields: JsonObject, state: StreamState): string =>
  textOf(oneLine(JSON.stringify({ ...fields, ...tailOf(state.reply) })), state)

/** `json`: the text of a chunk, on one line. */
function textOf(json: string, state: StreamState): string {
  const isFirst = !state.hasBegun
  state.hasBegun = true
  if (state.form === 'list') return `${isFirst ? '[' : ',\n'}${json}`
  return `data: ${json}\n\n`
}

/** The fast path: the same as `writeFrame`, without an encoding. */
function spliced(frame: InferenceFrame, jsons: readonly string[], tail: string, state: StreamState): string {
  const [event] = frame.events
  if (event?.type === 'text-delta') candidateAt(0, state).cited.addText(event.text)
  const open = '{"candidates":[{"content":{"parts":[{"text":"'
  const close = `"}],"role":"model"},"index":0}],${tail}`
  const between = state.form === 'list' ? `${close},\n${open}` : `${close}\n\ndata: ${open}`
  return textOf(`${open}${jsons.join(between)}${close}`, state)
}

function candidateAt(index: number, state: StreamState): CandidateParts {
  const known = state.candidates.get(index)
  if (known) return known
  const made = newParts(index, state.reply)
  state.candidates.set(index, made)
  return made
}

function writeFrame({ events }: InferenceFrame, state: StreamState): string {
  let text = ''
  for (const event of events) {
    if (event.type !== 'native' || event.dialect !== 'gemini' || !isGeminiNative(event.data)) continue
    const { chunk, isRest } = event.data
    state.isRelay ||= isRest !== true
    const kept = withoutEnd(chunk, state.held)
    if (kept) text += chunkOf(kept, state)
  }
  if (state.isRelay) return text
  return text + writeEvents(events, state)
}

function writeEvents(events: readonly InferenceEvent[], state: StreamState): string {
  const written = new Map<number, { parts: JsonObject[]; fields: JsonObject }>()
  const at = (index: number) => {
    const known = written.get(index) ?? { parts: [], fields: {} }
    written.set(index, known)
    return known
  }
  for (const event of events) {
    if (event.type === 'response-end') {
      for (const candidate of state.candidates.values())
        at(candidate.index).parts.push(...endParts(candidate))
    } else if (event.type === 'own-piece') {
      at(0).parts.push(...partsOf(event, candidateAt(0, state)))
    } else if ('choice' in event) {
      at(event.choice).parts.push(...partsOf(event, candidateAt(event.choice, state)))
      if (event.type === 'logprobs') {
        at(event.choice).fields.logprobsResult = writeLogprobs(event.logprobs)
      }
    }
  }
  const candidates = [...written].flatMap(([index, { parts, fields }]) =>
    parts.length === 0 && Object.keys(fields).length === 0
      ? []
      : [{ content: { parts, role: 'model' }, index, ...fields }],
  )
  return candidates.length === 0 ? '' : chunkOf({ candidates }, state)
}

function writeEnd(closing: Closing, state: StreamState): string {
  const { held, candidates: written } = state
  const lost = [...new Set([...written.values()].flatMap((candidate) => [...candidate.lost]))]
  const text = chunkOf(
    {
      ...held.fields,
      ...viewEnd(closing.finishes, held, written, state.isRelay),
      usageMetadata: viewUsage(closing, held.usage),
      ...viewMetadata(closing.serviceMetadata, lost),
    },
    state,
  )
  return state.form === 'list' ? `${text}\n]` : text
}

/**
 * Writes the error twice, as an event and bare: @google/genai before 2.0 and some other clients read only the event, the
 * AI SDK and newer clients only the bare form. A client stops at the first form that it knows.
 */
function writeFailure(error: PublicError, state: StreamState): string {
  const { reply } = state
  const routing = reply.routing?.() ?? null
  const json = JSON.stringify({ ...viewError(error), ...viewMetadata(routing) })
  if (state.form === 'list') return `${textOf(json, state)}\n]`
  return `${textOf(json, state)}${oneLine(json)}\n`
}
