import type { Annotation, FileCitation, JsonObject, UrlCitation } from '../core/events.ts'
import { asFilledText, isString, isText } from '../core/json.ts'

/** The cited piece of the answer, in UTF-16 units. */
type Places = Pick<UrlCitation, 'startIndex' | 'endIndex'>

/** A citation of a page. A page without a title gets its address as the title. */
export const urlCitation = (url: string, title: unknown, content: unknown, places: Places): UrlCitation => ({
  type: 'url_citation',
  url,
  title: asFilledText(title) ?? url,
  ...(isText(content) ? { content } : {}),
  ...places,
})

/** A place in the text; 0 for a value that is not an integer. */
export const placeOf = (value: unknown): number => (Number.isSafeInteger(value) ? Number(value) : 0)

export const isUrlCitation = (annotation: Annotation): annotation is UrlCitation =>
  typeof annotation.startIndex === 'number' && typeof annotation.url === 'string'

/** A citation of the gateway's own search in files. Those of a provider are forwarded as they came. */
export const isFileCitation = (annotation: Annotation): annotation is FileCitation =>
  annotation.type === 'file_citation' && 'fileId' in annotation && isString(annotation.fileId)

/** As OpenAI writes it. */
export const viewFileCitation = ({ fileId, filename, endIndex }: FileCitation, startsAt = 0): JsonObject => ({
  type: 'file_citation',
  file_id: fileId,
  filename,
  index: Math.max(0, endIndex - startsAt),
})
