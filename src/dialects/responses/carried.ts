import type { Carrier } from '../../core/carrier.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined, isString, objectsIn, textOf } from '../../core/json.ts'
import { isSealed, sealUnlessLong, unseal } from '../opaque.ts'
import { detailsOfItem, isOnlyText, UNKNOWN_FORMAT } from './items.ts'

/**
 * Reasoning of other dialects in `reasoning` items. What a later turn must replay unchanged (signatures, redacted
 * thoughts, the call that a signature belongs to) has no field of its own here: the item's `encrypted_content` holds
 * the details themselves, sealed. `format` names their vendor. A caller that sends the item back, even without its
 * visible text, brings every detail back as it was.
 */

/** How the items of one reply carry reasoning. */
export interface Carrying {
  readonly carrier: Carrier | undefined
  /** The caller requested `reasoning.encrypted_content`: clients that do so replay it, and drop text and `format`. */
  readonly isAskedFor: boolean
}

/**
 * The fields that carry details in an item. `texts`: those that the item shows, which may leave out some of the
 * details'. Text alone is shown and needs nothing else, unless the caller replays only what is encrypted.
 */
export function carry(
  details: readonly JsonObject[],
  texts: readonly string[],
  { carrier, isAskedFor }: Carrying,
): JsonObject {
  const format = details.find((detail) => isString(detail.format))?.format ?? UNKNOWN_FORMAT
  const joined = details.length > 0 ? merged(details) : texts.map(plainDetail)
  const isShown = texts.join('') === joined.map(visibleText).join('')
  if (joined.length === 0 || (isShown && !isAskedFor && !joined.some(isOpaque))) return { format }
  return defined({ encrypted_content: sealUnlessLong({ details: joined }, carrier), format })
}

const plainDetail = (text: string, index: number): JsonObject => ({
  type: 'reasoning.text',
  text,
  format: UNKNOWN_FORMAT,
  index,
})

const isOpaque = ({ type, id, signature, data }: JsonObject): boolean =>
  isString(signature) || isString(data) || isString(id) || !VISIBLE.has(String(type))

const VISIBLE = new Set(['reasoning.text', 'reasoning.summary'])

const visibleText = ({ text, summary }: JsonObject): string => textOf(text) + textOf(summary)

/** The details of an item that a caller sent: the sealed ones, or what its fields say. */
export function detailsOf(item: JsonObject, firstIndex: number): JsonObject[] {
  const carried = carriedBy(item)
  if (carried) return carried
  // Clients drop `format`. OpenAI shows no text of its reasoning, so text alone comes from a model that signed nothing.
  return detailsOfItem(isOnlyText(item) ? { ...item, format: UNKNOWN_FORMAT } : item, firstIndex)
}

/** The sealed details; undefined if the item has none of ours. */
export function carriedBy({ encrypted_content }: JsonObject): JsonObject[] | undefined {
  if (!isSealed(encrypted_content)) return undefined
  const details = unseal(encrypted_content)?.details
  return objectsIn(details)
}

/** Pieces of one text that was streamed become one: they share type and index, and the last has the signature. */
export function merged(details: readonly JsonObject[]): JsonObject[] {
  const joined: JsonObject[] = []
  for (const detail of details) {
    const last = joined.at(-1)
    if (last && isContinued(last, detail)) addTo(last, detail)
    else joined.push({ ...detail })
  }
  return joined
}

const isContinued = (last: JsonObject, { type, index, id, format }: JsonObject): boolean =>
  VISIBLE.has(String(type)) &&
  last.type === type &&
  last.index === index &&
  last.id === id &&
  last.format === format &&
  !isString(last.signature)

/** In place: a text may come in as many pieces as a stream has events. */
function addTo(last: JsonObject, detail: JsonObject): void {
  const { text, summary } = last
  Object.assign(last, detail)
  if (isString(text) || isString(detail.text)) last.text = textOf(text) + textOf(detail.text)
  if (isString(summary) || isString(detail.summary)) last.summary = textOf(summary) + textOf(detail.summary)
}
