import type { JsonObject, UrlCitation } from '../../core/events.ts'
import { isObject } from '../values.ts'
import { textHead, writeTextDelta } from './event-writer.ts'
import { type OutputItem, type Slot, textOf, writeAdded, writeDone } from './output-item.ts'

/** A `message` item while it comes: parts of text and refusal, one after the other. Each method answers events. */
export interface MessageOutput extends OutputItem {
  addText(text: string, logprobs: readonly JsonObject[]): string
  /** The same from the JSON text of the string. */
  spliceText(json: string, text: string): string
  addRefusal(text: string): string
  addAnnotation(annotation: UrlCitation | JsonObject): string
  addAudio(audio: JsonObject): string
}

interface Part {
  readonly type: 'output_text' | 'refusal' | 'output_audio'
  readonly index: number
  /** The text; of a sound its transcript. */
  text: string
  data: string
  readonly annotations: JsonObject[]
  readonly logprobs: JsonObject[]
  readonly head: string
  /** UTF-16 units of visible text of this reply before the part. */
  readonly startsAt: number
}

/** `startsAt`: UTF-16 units of visible text of the reply before this message: citations count from its beginning. */
export function openMessage(slot: Slot, startsAt: number): { text: string; item: MessageOutput } {
  const { events, id, index } = slot
  const shared = { ...slot.native, id, type: 'message', role: 'assistant' }
  const parts: Part[] = []
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
      annotations: [],
      logprobs: [],
      head: textHead(id, index, at),
      startsAt: length,
    }
    parts.push(part)
    return before + events.write('response.content_part.added', { ...place(at), part: viewPart(part) })
  }

  function closePart(native: JsonObject | undefined): string {
    if (part === null) return ''
    const closed = native?.type === part.type ? native : viewPart(part)
    const at = place(part.index)
    const done = writePartDone(closed, at, events)
    part = null
    return done + events.write('response.content_part.done', { ...at, part: closed })
  }

  /** The open part of this type, opened where there is none; the events of that are in `text`. */
  function within(type: Part['type']): { text: string; part: Part } {
    const text = part?.type === type ? '' : openPart(type)
    if (part === null) throw new Error('a part was opened')
    return { text, part }
  }

  /** Parts that a provider told at the end alone. */
  function writeParts(content: readonly unknown[]): string {
    let text = ''
    for (const [at, native] of content.entries()) {
      if (!isObject(native)) continue
      text += events.write('response.content_part.added', { ...place(at), part: emptied(native) })
      text += writeWholeDelta(native, place(at), events)
      text += writePartDone(native, place(at), events)
      text += events.write('response.content_part.done', { ...place(at), part: native })
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
      for (const token of logprobs) opened.part.logprobs.push(token)
      length += text.length
      const at = place(opened.part.index)
      return opened.text + writeTextDelta(events, { ...at, delta: text, logprobs })
    },
    spliceText(json, text) {
      const opened = part?.type === 'output_text' ? { text: '', part } : within('output_text')
      opened.part.text += text
      length += text.length
      return opened.text + events.splice(opened.part.head, json)
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
      const annotation_index = opened.part.annotations.push(viewed) - 1
      const fields = { ...place(opened.part.index), annotation_index, annotation: viewed }
      return opened.text + events.write('response.output_text.annotation.added', fields)
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
      const text =
        parts.length === 0 && content ? writeParts(content) : closePart(isObject(last) ? last : undefined)
      whole = {
        ...(native ? { ...native, id } : { ...shared, status }),
        content: content ?? parts.map(viewPart),
      }
      return text + writeDone(slot, whole)
    },
  }
  return { text: writeAdded(slot, { ...shared, status: 'in_progress', content: [] }), item }
}

function viewPart({ type, text, data, annotations, logprobs }: Part): JsonObject {
  switch (type) {
    case 'output_text':
      return { type, text, annotations: [...annotations], logprobs: [...logprobs] }
    case 'refusal':
      return { type, refusal: text }
    case 'output_audio':
      return { type, data, transcript: text }
  }
}

/** Some providers leave out of a citation what clients parse as required. */
function completePart(part: unknown): unknown {
  if (!isObject(part) || part.type !== 'output_text') return part
  const annotations: unknown[] = Array.isArray(part.annotations) ? part.annotations : []
  return { ...part, annotations: annotations.map(completeCitation) }
}

const completeCitation = (annotation: unknown): unknown =>
  isObject(annotation) && annotation.type === 'url_citation'
    ? { start_index: 0, end_index: 0, ...annotation, title: annotation.title || annotation.url }
    : annotation

const emptied = (part: JsonObject): JsonObject => ({
  ...part,
  ...('text' in part ? { text: '' } : {}),
  ...('refusal' in part ? { refusal: '' } : {}),
  ...('annotations' in part ? { annotations: [] } : {}),
})

function writeWholeDelta(part: JsonObject, at: JsonObject, events: Slot['events']): string {
  if (part.type === 'output_text' && part.text !== '') {
    return writeTextDelta(events, { ...at, delta: textOf(part.text), logprobs: [] })
  }
  return part.type === 'refusal'
    ? events.write('response.refusal.delta', { ...at, delta: textOf(part.refusal) })
    : ''
}

function writePartDone(part: JsonObject, at: JsonObject, events: Slot['events']): string {
  switch (part.type) {
    case 'output_text': {
      const logprobs = Array.isArray(part.logprobs) ? part.logprobs : []
      return events.write('response.output_text.done', { ...at, text: textOf(part.text), logprobs })
    }
    case 'refusal':
      return events.write('response.refusal.done', { ...at, refusal: textOf(part.refusal) })
    case 'output_audio':
      return events.write('response.audio.done', at) + events.write('response.audio.transcript.done', at)
    default:
      return ''
  }
}

/** Places count from the beginning of the part. Annotations of other kinds are shown as they came. */
function viewAnnotation(annotation: UrlCitation | JsonObject, startsAt: number): JsonObject {
  if (!isUrlCitation(annotation)) return annotation
  const { url, title, content, startIndex, endIndex } = annotation
  return {
    type: 'url_citation',
    url,
    title,
    start_index: Math.max(0, startIndex - startsAt),
    end_index: Math.max(0, endIndex - startsAt),
    ...(content === undefined ? {} : { content }),
  }
}

const isUrlCitation = (annotation: UrlCitation | JsonObject): annotation is UrlCitation =>
  typeof annotation.startIndex === 'number' && typeof annotation.url === 'string'
