import type { JsonObject, UrlCitation } from '../../core/events.ts'
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
  addAnnotation(annotation: UrlCitation | JsonObject): string
  addAudio(audio: JsonObject): string
}

/** `startsAt`: UTF-16 units of visible text of the reply before this message: citations count from its beginning. */
export function openMessage(slot: Slot, startsAt: number): { text: string; item: MessageOutput } {
  const { events, id, index } = slot
  const shared = { ...slot.native, id, type: 'message', role: 'assistant' }
  const parts: Part[] = []
  /** The parts that ended, as they were shown. */
  const closedParts: JsonObject[] = []
  let part: Part | null = null
  let whole: JsonObject | null = null
  let length = startsAt
  const place = (contentIndex: number): JsonObject => ({
    item_id: id,
    output_index: index,
    content_index: contentIndex,
  })

  function openPart(type: Part['type']): string {
    const before = closePart(undefined)
    const at = parts.length
    part = {
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
    parts.push(part)
    return before + events.write('response.content_part.added', { ...place(at), part: viewPart(part) })
  }

  function closePart(native: JsonObject | undefined): string {
    if (part === null) return ''
    const isNative = native?.type === part.type
    const closed = isNative ? native : viewPart(part)
    const lists = isNative ? undefined : part
    const at = place(part.index)
    closedParts[part.index] = closed
    part = null
    return writePartEnd(closed, at, events, lists)
  }

  /** The open part of this type, opened if needed; `text` has the events of opening it. */
  function within(type: Part['type']): { text: string; part: Part } {
    const text = part?.type === type ? '' : openPart(type)
    if (part === null) throw new Error('a part was opened')
    return { text, part }
  }

  /** Parts that a provider sent only at the end. */
  function writeParts(content: readonly unknown[]): string {
    let text = ''
    for (const [at, native] of content.entries()) {
      if (!isObject(native)) continue
      text += events.write('response.content_part.added', { ...place(at), part: emptied(native) })
      text += writeWholeDelta(native, place(at), events)
      text += writePartEnd(native, place(at), events)
    }
    return text
  }

  const item: MessageOutput = {
    slot,
    type: 'message',
    get whole() {
      return whole
    },
    addText(text, logprobs) {
      const opened = within('output_text')
      opened.part.text += text
      const json = opened.part.logprobs.add(logprobs)
      length += text.length
      return opened.text + writeTextDelta(events, { ...place(opened.part.index), delta: text }, json)
    },
    spliceText(jsons, text) {
      const opened = part?.type === 'output_text' ? { text: '', part } : within('output_text')
      opened.part.text += text
      length += text.length
      return opened.text + events.splice(opened.part.head, jsons)
    },
    addRefusal(text) {
      const opened = within('refusal')
      opened.part.text += text
      return (
        opened.text + events.write('response.refusal.delta', { ...place(opened.part.index), delta: text })
      )
    },
    addAnnotation(annotation) {
      const opened = within('output_text')
      const viewed = viewAnnotation(annotation, opened.part.startsAt)
      const json = opened.part.annotations.add([viewed]).slice(1, -1)
      const fields = { ...place(opened.part.index), annotation_index: opened.part.annotationCount++ }
      const event = 'response.output_text.annotation.added'
      return opened.text + events.writeField(event, fields, 'annotation', json)
    },
    addAudio(audio) {
      const opened = within('output_audio')
      const data = textOf(audio.data)
      const transcript = textOf(audio.transcript)
      opened.part.data += data
      opened.part.text += transcript
      const at = place(opened.part.index)
      return (
        opened.text +
        (data === '' ? '' : events.write('response.audio.delta', { ...at, delta: data })) +
        (transcript === ''
          ? ''
          : events.write('response.audio.transcript.delta', { ...at, delta: transcript }))
      )
    },
    close(status, native) {
      // What was streamed is not lost where the provider's last word leaves it out.
      const told = Array.isArray(native?.content) && native.content.length > 0 ? native.content : undefined
      const content = told?.map(completePart)
      const last: unknown = part === null ? undefined : content?.[part.index]
      const text = parts.length === 0 && content ? writeParts(content) : closePart(asObject(last))
      whole = {
        ...(native ? { ...native, id } : { ...shared, status }),
        content: content ?? closedParts,
      }
      const shown = jsonList((content ?? closedParts).map(events.jsonOf))
      return text + writeDone(slot, whole, events.jsonWith(whole, new Map([['content', shown]])))
    },
  }
  return { text: writeAdded(slot, { ...shared, status: 'in_progress', content: [] }), item }
}
