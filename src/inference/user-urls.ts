import type { JsonObject } from '../core/events.ts'
import { isObject } from '../core/json.ts'
import type { ContentPart, InferenceRequest } from '../core/request.ts'
import { checkUrl, type OutboundAllow } from '../net/address.ts'

/** The parts of a message that may name an address instead of holding their content. */
export type AddressedPart = Extract<ContentPart, { type: 'image' | 'file' | 'video' }>

const SCHEME = /^[a-z][a-z0-9+.-]*:/i

/**
 * Refuses addresses of private networks in what a caller wants read: `readings.md`, user-given URLs. Whoever fetches
 * them, this gateway or a provider on the operator's own machine, must not be led where the caller could not go.
 * Throws a `GatewayError` 400 that names the field; `data:` URLs hold their content and lead nowhere.
 */
export function checkUserUrls(request: InferenceRequest, allow: OutboundAllow): void {
  for (const message of request.messages) {
    if (message.content === null || typeof message.content === 'string') continue
    for (const part of message.content) {
      const url = addressOf(part)
      if (url !== null) check(url, request.body, allow)
    }
  }
}

function check(url: string, body: JsonObject, allow: OutboundAllow): void {
  try {
    checkUrl(url, allow)
  } catch {
    // Once more, for the sentence with the place: found only where it is needed.
    checkUrl(url, allow, placeOf(url, body))
  }
}

/** The address that a part names; null where it holds its content itself (`data:`, bare base64) or can name none. */
export function addressOf(part: ContentPart): string | null {
  const text =
    part.type === 'file' ? part.data : part.type === 'image' || part.type === 'video' ? part.url : ''
  return text === undefined || !SCHEME.test(text) || /^data:/i.test(text) ? null : text
}

/** The fields that hold addresses, in every dialect that callers speak. */
const ADDRESS_FIELDS = new Set(['url', 'image_url', 'video_url', 'file_data', 'file_url', 'data'])
export const isAddressField = (name: string): boolean => ADDRESS_FIELDS.has(name)

/** Where an address stands in a body (`messages[0].content[1].image_url.url`), in any dialect; undefined: nowhere. */
export function placeOf(url: string, body: JsonObject): string | undefined {
  return placeIn(url, body, '', '')
}

function placeIn(url: string, value: unknown, field: string, place: string): string | undefined {
  if (value === url) return isAddressField(field) ? place : undefined
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const found = placeIn(url, item, field, `${place}[${index}]`)
      if (found !== undefined) return found
    }
  } else if (isObject(value)) {
    for (const [name, item] of Object.entries(value)) {
      const found = placeIn(url, item, name, place === '' ? name : `${place}.${name}`)
      if (found !== undefined) return found
    }
  }
  return undefined
}
