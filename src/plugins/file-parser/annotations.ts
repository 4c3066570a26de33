import type { DocumentText } from '../../core/document-reader.ts'
import type { FrameBatch, InferenceFrames, JsonObject } from '../../core/events.ts'
import { asList, asText, fieldsOf, isText, objectsIn } from '../../core/json.ts'
import type { Message } from '../../core/request.ts'

/** What a caller sends back with the next turn, so that the file is not read again. */
export const annotationOf = (name: string, { hash, text }: DocumentText): JsonObject => ({
  type: 'file',
  file: { hash, name, content: [{ type: 'text', text }] },
})

/** The texts in the annotations of former replies, by the hash of their file. */
export function knownTexts(messages: readonly Message[]): ReadonlyMap<string, string> {
  const known = new Map<string, string>()
  for (const { role, extra } of messages) {
    if (role !== 'assistant') continue
    for (const { type, file } of objectsIn(extra?.['annotations'])) {
      const { hash, content } = fieldsOf(file)
      const texts = objectsIn(content).flatMap(({ text }) => asText(text) ?? [])
      if (type === 'file' && isText(hash) && texts.length > 0) known.set(hash, texts.join('\n'))
    }
  }
  return known
}

/** The message without annotations of files: a provider has no use for them. */
export function withoutFiles(message: Message): Message {
  const annotations = asList(message.extra?.['annotations'])
  if (annotations.length === 0) return message
  const { annotations: _, ...extra } = message.extra ?? {}
  const others = annotations.filter((annotation) => fieldsOf(annotation)['type'] !== 'file')
  return { ...message, extra: others.length === 0 ? extra : { ...extra, annotations: others } }
}

/** Adds the annotations before the end of the reply. */
export function annotatedFrames(
  frames: InferenceFrames,
  annotations: readonly JsonObject[],
): InferenceFrames {
  return annotations.length === 0 ? frames : annotated(frames, annotations)
}

async function* annotated(
  frames: InferenceFrames,
  annotations: readonly JsonObject[],
): AsyncGenerator<FrameBatch> {
  const added = annotations.map((annotation) => ({ type: 'annotation' as const, choice: 0, annotation }))
  for await (const batch of frames) {
    const at = batch.findIndex(({ events }) =>
      events.some(({ type }) => type === 'usage' || type === 'response-end'),
    )
    if (at === -1 || added.length === 0) yield batch
    else yield [...batch.slice(0, at), { events: added.splice(0) }, ...batch.slice(at)]
  }
}
