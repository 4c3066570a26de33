import type { JsonObject } from '../../core/events.ts'
import { isSealed, seal, unseal } from '../opaque.ts'
import { isObject, isString } from '../values.ts'
import { detailsOfItem, sharedFields, UNKNOWN_FORMAT } from './items.ts'

/**
 * Reasoning of other dialects in `reasoning` items. What a later turn must replay unchanged (signatures, redacted
 * thoughts, the call that a signature belongs to) has no field of its own here: the item's `encrypted_content` holds
 * the details themselves, sealed. `format` says whose they are. A caller that sends the item back, even without its
 * visible text, brings every detail back as it was.
 */

/** The fields that carry details in an item. `shown`: the text of the item, when it may leave out some of theirs. */
export function carry(details: readonly JsonObject[], shown?: string): JsonObject {
  const format = details.find((detail) => isString(detail.format))?.format ?? UNKNOWN_FORMAT
  const isShown = shown === undefined || shown === details.map(visibleText).join('')
  if (isShown && !details.some(isOpaque)) return { format }
  return { encrypted_content: seal({ details: merged(details) }), format }
}

const isOpaque = ({ type, id, signature, data }: JsonObject): boolean =>
  isString(signature) || isString(data) || isString(id) || !VISIBLE.has(String(type))

const VISIBLE = new Set(['reasoning.text', 'reasoning.summary'])

const visibleText = ({ text, summary }: JsonObject): string => textOf(text) + textOf(summary)

/** The details of an item that a caller sent: the sealed ones, or what its fields say. */
export function detailsOf(item: JsonObject, firstIndex: number): JsonObject[] {
  return carriedBy(item) ?? detailsOfItem(item, firstIndex)
}

/** The sealed details; undefined where the item has none of ours. */
export function carriedBy({ encrypted_content }: JsonObject): JsonObject[] | undefined {
  if (!isSealed(encrypted_content)) return undefined
  const details = unseal(encrypted_content)?.details
  return Array.isArray(details) ? details.filter(isObject) : []
}

/** True for reasoning that did not come from a provider of this dialect: none of them takes it back. */
export const isForeign = (item: JsonObject): boolean =>
  isSealed(item.encrypted_content) || sharedFields(item).format !== sharedFields({}).format

/** Pieces of one text that was streamed become one: they share type and index, and the last has the signature. */
export function merged(details: readonly JsonObject[]): JsonObject[] {
  const whole: JsonObject[] = []
  for (const detail of details) {
    const last = whole.at(-1)
    if (last && isContinued(last, detail)) whole[whole.length - 1] = joined(last, detail)
    else whole.push(detail)
  }
  return whole
}

const isContinued = (last: JsonObject, { type, index, id, format }: JsonObject): boolean =>
  VISIBLE.has(String(type)) &&
  last.type === type &&
  last.index === index &&
  last.id === id &&
  last.format === format &&
  !isString(last.signature)

const joined = (last: JsonObject, detail: JsonObject): JsonObject => ({
  ...last,
  ...detail,
  ...(isString(last.text) || isString(detail.text) ? { text: textOf(last.text) + textOf(detail.text) } : {}),
  ...(isString(last.summary) || isString(detail.summary)
    ? { summary: textOf(last.summary) + textOf(detail.summary) }
    : {}),
})

const textOf = (value: unknown): string => (isString(value) ? value : '')
