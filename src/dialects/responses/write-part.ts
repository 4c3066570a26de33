import type { Annotation, JsonObject } from '../../core/events.ts'
import { asList, isObject, textOf } from '../../core/json.ts'
import type { JsonText } from '../../core/json-steps.ts'
import { isFileCitation, isUrlCitation, viewFileCitation } from '../citation.ts'
import { type EntryList, type EventWriter, linked, writeTextDelta } from './write-events.ts'

/** One part of a message's content, while it comes. */
export interface Part {
  readonly type: 'output_text' | 'refusal' | 'output_audio'
  readonly index: number
  /** The text; of a sound its transcript. */
  text: string
  data: string
  readonly annotations: EntryList
  annotationCount: number
  readonly logprobs: EntryList
  readonly head: string
  /** UTF-16 units of visible text of this reply before the part. */
  readonly startsAt: number
}

/**
 * Long lists are read from their text only where they are asked for: the events have the text. All else is plain data,
 * because the engine writes an object with a getter in it several times slower.
 */
export function viewPart({ type, text, data, annotations, logprobs }: Part): JsonObject {
  switch (type) {
    case 'output_text':
      if (annotations.isAtHand() && logprobs.isAtHand())
        return { type, text, annotations: annotations.values(), logprobs: logprobs.values() }
      return {
        type,
        text,
        get annotations() {
          return annotations.values()
        },
        get logprobs() {
          return logprobs.values()
        },
      }
    case 'refusal':
      return { type, refusal: text }
    case 'output_audio':
      return { type, data, transcript: text }
  }
}

/** Some providers leave out of a citation what clients parse as required. */
export function completePart(part: unknown): unknown {
  if (!isObject(part) || part.type !== 'output_text') return part
  const annotations = asList(part.annotations)
  return { ...part, annotations: annotations.map(completeCitation) }
}

const completeCitation = (annotation: unknown): unknown =>
  isObject(annotation) && annotation.type === 'url_citation'
    ? { start_index: 0, end_index: 0, ...annotation, title: annotation.title || annotation.url }
    : annotation

export const emptied = (part: JsonObject): JsonObject => ({
  ...part,
  ...('text' in part ? { text: '' } : {}),
  ...('refusal' in part ? { refusal: '' } : {}),
  ...('annotations' in part ? { annotations: [] } : {}),
})

export function writeWholeDelta(part: JsonObject, at: JsonObject, events: EventWriter): string {
  if (part.type === 'output_text' && part.text !== '') {
    return writeTextDelta(events, { ...at, delta: textOf(part.text) }, '[]')
  }
  return part.type === 'refusal'
    ? events.write('response.refusal.delta', { ...at, delta: textOf(part.refusal) })
    : ''
}

/** The events that end a part. `lists` has what was streamed of it; absent: the part came complete. */
export function writePartEnd(part: JsonObject, at: JsonObject, events: EventWriter, lists?: Part): string {
  const known = new Map<string, JsonText>()
  if (part.type === 'output_text') {
    known.set('text', events.jsonOf(textOf(part.text)))
    known.set('logprobs', lists?.logprobs.json() ?? events.jsonOf(asList(part.logprobs)))
    if (lists) known.set('annotations', lists.annotations.json())
  }
  const json = events.jsonWith(part, known)
  events.remember(part, json)
  return (
    writePartDone(part, at, events, known) + events.writeField('response.content_part.done', at, 'part', json)
  )
}

function writePartDone(
  part: JsonObject,
  at: JsonObject,
  events: EventWriter,
  known: ReadonlyMap<string, JsonText>,
): string {
  switch (part.type) {
    case 'output_text': {
      const text = known.get('text') ?? '""'
      const logprobs = known.get('logprobs') ?? '[]'
      const json = linked([text, ',"logprobs":', logprobs])
      return events.writeField('response.output_text.done', at, 'text', json)
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
export function viewAnnotation(annotation: Annotation, startsAt: number): JsonObject {
  if (isFileCitation(annotation)) return viewFileCitation(annotation, startsAt)
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
