import type { JsonObject, ReasoningDetail } from '../../core/events.ts'
import { isString } from '../../core/json.ts'
import { type Carrying, carry } from './carried.ts'
import { textsOf } from './items.ts'
import { type OutputItem, type Slot, writeAdded, writeDone } from './write-item.ts'

/** A `reasoning` item while it comes. Each method answers events. */
export interface ReasoningOutput extends OutputItem {
  /** Visible text of the part that `part` names. */
  addText(text: string, part: Partial<ThoughtPart>): string
  /** A piece that a later turn must replay. */
  addDetail(detail: ReasoningDetail): string
}

export interface ThoughtPart {
  kind: 'summary' | 'text'
  /** Distinguishes it from the part before it; undefined: the same part. */
  key?: unknown
}

export interface ReasoningOptions extends Carrying {
  readonly withSpecEvents: boolean
}

interface OpenPart {
  readonly kind: ThoughtPart['kind']
  key: unknown
  readonly index: number
  text: string
}

/** The words of this dialect for the parts of `summary` and of `content`. */
const WORDS = {
  summary: { event: 'response.reasoning_summary_text', index: 'summary_index', type: 'summary_text' },
  text: { event: 'response.reasoning_text', index: 'content_index', type: 'reasoning_text' },
} as const

/**
 * `withSpecEvents`: each delta is also written as `response.reasoning.delta`, the specification's name; OpenAI's own
 * stream helper breaks on it (openai-node 7.55, 2026).
 */
export function openReasoning(
  slot: Slot,
  { withSpecEvents, ...carrying }: ReasoningOptions,
): { text: string; item: ReasoningOutput } {
  const { id } = slot
  const shared = { ...slot.native, id, type: 'reasoning' }
  const texts: Record<ThoughtPart['kind'], string[]> = { summary: [], text: [] }
  const details: ReasoningDetail[] = []
  let part: OpenPart | null = null
  let complete: JsonObject | null = null

  function closePart(): string {
    if (part === null) return ''
    const ended = part
    part = null
    texts[ended.kind][ended.index] = ended.text
    return writeEnd(slot, ended)
  }

  function openPart(kind: ThoughtPart['kind'], key: unknown): { text: string; part: OpenPart } {
    const closed = closePart()
    const opened: OpenPart = { kind, key, index: texts[kind].length, text: '' }
    part = opened
    texts[kind].push('')
    return { text: closed + writeStep(slot, 'added', opened), part: opened }
  }

  /** Without a kind, the text continues the open part, or is the usual kind of a Responses provider. */
  const usualKind = (): ThoughtPart['kind'] => part?.kind ?? (slot.native ? 'summary' : 'text')

  function addText(text: string, { kind = usualKind(), key }: Partial<ThoughtPart>): string {
    const isSame = part?.kind === kind && (key === undefined || part.key === undefined || part.key === key)
    const opened = isSame && part ? { text: '', part } : openPart(kind, key)
    opened.part.key ??= key
    opened.part.text += text
    return opened.text + writeDelta(slot, opened.part, text, withSpecEvents)
  }

  /** Parts that a provider sent only at the end. */
  function writeWhole(native: JsonObject): string {
    if (texts.summary.length + texts.text.length > 0) return ''
    return partsOf(native)
      .map(({ text, kind }, key) => addText(text, { kind, key }))
      .join('')
  }

  const item: ReasoningOutput = {
    slot,
    type: 'reasoning',
    get complete() {
      return complete
    },
    addText,
    addDetail(detail) {
      details.push(detail)
      return ''
    },
    close(status, native) {
      const text = (native ? writeWhole(native) : '') + closePart()
      complete = native
        ? { ...native, id, ...completeTexts(native, texts) }
        : {
            ...shared,
            status,
            ...viewTexts(texts),
            ...carry(details, [...texts.summary, ...texts.text], carrying),
          }
      return text + writeDone(slot, complete)
    },
  }
  return { text: writeAdded(slot, { ...shared, status: 'in_progress', summary: [] }), item }
}

/** The event that opens a part, or the one that ends it. */
function writeStep({ events, id, index }: Slot, step: 'added' | 'done', part: OpenPart): string {
  const { index: name, type } = WORDS[part.kind]
  const event = part.kind === 'summary' ? 'response.reasoning_summary_part' : 'response.content_part'
  const place = { item_id: id, output_index: index, [name]: part.index }
  return events.write(`${event}.${step}`, { ...place, part: { type, text: part.text } })
}

function writeEnd(slot: Slot, part: OpenPart): string {
  const { event, index: name } = WORDS[part.kind]
  const place = { item_id: slot.id, output_index: slot.index, [name]: part.index }
  return slot.events.write(`${event}.done`, { ...place, text: part.text }) + writeStep(slot, 'done', part)
}

function writeDelta(
  { events, id, index }: Slot,
  part: OpenPart,
  text: string,
  withSpecEvents: boolean,
): string {
  const { event, index: name } = WORDS[part.kind]
  const place = { item_id: id, output_index: index }
  const delta = events.write(`${event}.delta`, { ...place, [name]: part.index, delta: text })
  return withSpecEvents ? delta + events.write('response.reasoning.delta', { ...place, delta: text }) : delta
}

const partsOf = ({ summary, content }: JsonObject) => [
  ...textsOf(summary).map((text) => ({ text, kind: 'summary' as const })),
  ...textsOf(content).map((text) => ({ text, kind: 'text' as const })),
]

const viewTexts = ({ summary, text }: Record<ThoughtPart['kind'], string[]>): JsonObject => ({
  summary: summary.map(viewSummary),
  ...(text.length > 0 ? { content: text.map((each) => ({ type: 'reasoning_text', text: each })) } : {}),
})

/** Streamed text is kept if the provider's final item omits it. */
function completeTexts(native: JsonObject, texts: Record<ThoughtPart['kind'], string[]>): JsonObject {
  const hasText = [...textsOf(native.summary), ...textsOf(native.content)].length > 0
  if (!hasText) return viewTexts(texts)
  return { summary: Array.isArray(native.summary) ? native.summary.map(viewSummary) : [] }
}

/** Real clients break on the bare strings of the specification's text (docs/compatibility.md). */
const viewSummary = (part: unknown): unknown => (isString(part) ? { type: 'summary_text', text: part } : part)
