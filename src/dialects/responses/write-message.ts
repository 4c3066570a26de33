import type { Annotation, JsonObject } from '../../core/events.ts'
import { asObject, isObject, textOf } from '../../core/json.ts'
import { jsonList, textHead, writeTextDelta } from './write-events.ts'
import { type OutputItem, type Slot, writeAdded, writeDone } from './write-item.ts'
import {
  completePart,
  emptied,
  type Part,
  viewAnnotation,
  viewPart,
  writePartEnd,
  writeWholeDelta,
} from './write-part.ts'

/** A `message` item while it streams: parts of text and refusal, in order. Each method returns events. */
export interface MessageOutput extends OutputItem {
  addText(text: string, logprobs: readonly JsonObject[]): string
  /** The same from the JSON texts of its pieces. */
  spliceText(jsons: readonly string[], text: string): string
  addRefusal(text: string): string
  addAnnotation(annotation: Annotation): string
  addAudio(audio: JsonObject): string
}

/** The parts of a message, of which one is open at a time. Each method returns events. */
interface Parts {
  readonly open: Part | null
  /** The parts that ended, as they were shown. */
  readonly closed: JsonObject[]
  /** The open part of this type, opened if needed; `text` has the events of opening it. */
  within(type: Part['type']): { text: string; part: Part }
  /** Ends the open part, as `native` if a provider of this dialect sent it. */
  close(native: JsonObject | undefined): string
  /** The place of a part, as its events name it. */
  place(contentIndex: number): JsonObject
  /** Visible text was added. */
  advance(length: number): void
}

function createParts({ events, id, index }: Slot, startsAt: number): Parts {
  const closed: JsonObject[] = []
  let part: Part | null = null
  let count = 0
  let length = startsAt
  const place = (contentIndex: number): JsonObject => ({
    item_id: id,
    output_index: index,
    content_index: contentIndex,
  })

  function openPart(type: Part['type']): { text: string; part: Part } {
    const before = close(undefined)
    const at = count++
    const opened: Part = {
      type,
      index: at,
      text: '',
      data: '',
      annotations: events.createList(),
      annotationCount: 0,
      logprobs: events.createList(),
      head: textHead(id, index, at),
      startsAt: length,
    }
    part = opened
    const added = events.write('response.content_part.added', { ...place(at), part: viewPart(opened) })
    return { text: before + added, part: opened }
  }

  function close(native: JsonObject | undefined): string {
    if (part === null) return ''
    const isNative = native?.type === part.type
    const shown = isNative ? native : viewPart(part)
    const lists = isNative ? undefined : part
    const at = place(part.index)
    closed[part.index] = shown
    part = null
    return writePartEnd(shown, at, events, lists)
  }

  return {
    get open() {
      return part
    },
    closed,
    within: (type) => (part?.type === type ? { text: '', part } : openPart(type)),
    close,
    place,
    advance(added) {
      length += added
    },
  }
}

/** Parts that a provider sent only at the end. */
function writeParts(content: readonly unknown[], { place }: Parts, { events }: Slot): string {
  let text = ''
  for (const [at, native] of content.entries()) {
    if (!isObject(native)) continue
    text += events.write('response.content_part.added', { ...place(at), part: emptied(native) })
    text += writeWholeDelta(native, place(at), events)
    text += writePartEnd(native, place(at), events)
  }
  return text
}

/** `startsAt`: UTF-16 units of visible text of the reply before this message: citations count from its beginning. */
export function openMessage(slot: Slot, startsAt: number): { text: string; item: MessageOutput } {
  const { events, id } = slot
  const shared = { ...slot.native, id, type: 'message', role: 'assistant' }
  const parts = createParts(slot, startsAt)
  let complete: JsonObject | null = null
  const item: MessageOutput = {
    slot,
    type: 'message',
    get complete() {
      return complete
    },
    addText(text, logprobs) {
      const opened = parts.within('output_text')
      opened.part.text += text
      const json = opened.part.logprobs.add(logprobs)
      parts.advance(text.length)
      return opened.text + writeTextDelta(events, { ...parts.place(opened.part.index), delta: text }, json)
    },
    spliceText(jsons, text) {
      const opened = parts.within('output_text')
      opened.part.text += text
      parts.advance(text.length)
      return opened.text + events.splice(opened.part.head, jsons)
    },
    addRefusal(text) {
      const opened = parts.within('refusal')
      opened.part.text += text
      const delta = { ...parts.place(opened.part.index), delta: text }
      return opened.text + events.write('response.refusal.delta', delta)
    },
    addAnnotation(annotation) {
      const { text, part } = parts.within('output_text')
      const json = part.annotations.add([viewAnnotation(annotation, part.startsAt)]).slice(1, -1)
      const fields = { ...parts.place(part.index), annotation_index: part.annotationCount++ }
      return text + events.writeField('response.output_text.annotation.added', fields, 'annotation', json)
    },
    addAudio(audio) {
      const opened = parts.within('output_audio')
      return opened.text + addAudio(opened.part, audio, parts.place(opened.part.index), slot)
    },
    close(status, native) {
      // Streamed content is kept if the provider's complete item leaves it out.
      const ownParts =
        Array.isArray(native?.content) && native.content.length > 0 ? native.content : undefined
      const content = ownParts?.map(completePart)
      const last: unknown = parts.open === null ? undefined : content?.[parts.open.index]
      const isNew = parts.open === null && parts.closed.length === 0
      const text = isNew && content ? writeParts(content, parts, slot) : parts.close(asObject(last))
      const shown = content ?? parts.closed
      complete = { ...(native ? { ...native, id } : { ...shared, status }), content: shown }
      const json = jsonList(shown.map(events.jsonOf))
      return text + writeDone(slot, complete, events.jsonWith(complete, new Map([['content', json]])))
    },
  }
  return { text: writeAdded(slot, { ...shared, status: 'in_progress', content: [] }), item }
}

function addAudio(part: Part, audio: JsonObject, place: JsonObject, { events }: Slot): string {
  const data = textOf(audio.data)
  const transcript = textOf(audio.transcript)
  part.data += data
  part.text += transcript
  return (
    (data === '' ? '' : events.write('response.audio.delta', { ...place, delta: data })) +
    (transcript === ''
      ? ''
      : events.write('response.audio.transcript.delta', { ...place, delta: transcript }))
  )
}
