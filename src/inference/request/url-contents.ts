import type { Attempt } from '../../core/attempt.ts'
import { signalOf } from '../../core/cancellation.ts'
import { badRequest, GatewayError, UpstreamError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { sniffMediaType } from '../../core/media-type.ts'
import type { ContentPart, InferenceRequest, Message } from '../../core/request.ts'
import type { Egress } from '../../dialects/dialect.ts'
import { type BodyLease, takeBody } from '../../http/body-budget.ts'
import type { Content } from '../../net/content.ts'
import type { Conversation, FetchContent, UrlContents } from '../generation.ts'
import { type AddressedPart, addressOf, isAddressField, placeOf } from './user-urls.ts'

/** `fetchContent` that counts in the memory of bodies in flight. Throws a `GatewayError` 503 if that is exhausted. */
export const countedContent = (fetchContent: FetchContent, body: BodyLease | undefined): FetchContent =>
  body === undefined
    ? fetchContent
    : async (url, signal) => {
        const content = await fetchContent(url, signal)
        takeBody(body, content.bytes.byteLength)
        return content
      }

const MOST_ADDRESSES = 32
const HTTP = /^https?:/i

/**
 * The request in a form that this endpoint accepts. If its dialect or provider does not support URLs, their contents are
 * fetched and replace them as data URLs, in the messages and in the body. Returns the same request if nothing is fetched.
 * Throws a `GatewayError` 400 that names the field if a URL cannot be fetched, or its content has the wrong type.
 */
export function withContents(
  generation: Conversation,
  attempt: Attempt,
  egress: Egress,
): InferenceRequest | Promise<InferenceRequest> {
  const { request } = generation
  let wanted: Map<string, AddressedPart['type']> | null = null
  for (const { content } of request.messages) {
    if (content === null || typeof content === 'string') continue
    for (const part of content) {
      const url = addressOf(part)
      if (url !== null && isAddressed(part) && isWanted(part.type, url, attempt, egress)) {
        wanted ??= new Map()
        wanted.set(url, part.type)
      }
    }
  }
  if (wanted === null) return request
  generation.contents ??= new Map()
  const { deps, opening, cancellation, contents } = generation
  const fetchContent = countedContent(deps.fetchContent, opening.incoming.body)
  return fetchAll(request, attempt, wanted, contents, fetchContent, signalOf(cancellation))
}

async function fetchAll(
  request: InferenceRequest,
  attempt: Attempt,
  wanted: ReadonlyMap<string, AddressedPart['type']>,
  contents: UrlContents,
  fetchContent: FetchContent,
  signal: AbortSignal,
): Promise<InferenceRequest> {
  if (wanted.size > MOST_ADDRESSES) {
    throw badRequest(
      `The request contains ${wanted.size} URLs that must be fetched for ${attempt.provider.name}; at most ${MOST_ADDRESSES} are allowed`,
    )
  }
  const replacements = new Map<string, string>()
  await Promise.all(
    [...wanted].map(async ([url, type]) => {
      let content = contents.get(url)
      if (content === undefined) {
        content = dataUrlOf(url, type, placeOf(url, request.body), fetchContent, signal)
        contents.set(url, content)
      }
      replacements.set(url, await content)
    }),
  )
  return {
    ...request,
    body: replaced(request.body, replacements),
    messages: request.messages.map((message) => withReplaced(message, replacements)),
  }
}

const isAddressed = (part: ContentPart): part is AddressedPart =>
  part.type === 'image' || part.type === 'file' || part.type === 'video'

function isWanted(type: AddressedPart['type'], url: string, attempt: Attempt, egress: Egress): boolean {
  if (!HTTP.test(url)) return false
  const { takesUrls } = attempt.provider.quirks
  const takes = typeof takesUrls === 'object' ? takesUrls[attempt.dialect] : takesUrls
  return !(takes ?? egress.needsContent?.(type, url, attempt) !== true)
}

/** The content of a URL as a data URL. Throws a `GatewayError` 400 that names the field. */
export async function dataUrlOf(
  url: string,
  type: AddressedPart['type'],
  place: string | undefined,
  fetchContent: FetchContent,
  signal: AbortSignal,
): Promise<string> {
  const { mediaType, bytes } = await contentAt(url, place, fetchContent, signal)
  // Servers often report a wrong type, and providers detect it from the first bytes.
  const found = sniffMediaType(bytes) ?? (mediaType || 'application/octet-stream')
  if (type !== 'file' && !found.startsWith(`${type}/`)) {
    throw badRequest(`The content of the URL is ${found}, which is no ${type}`, place)
  }
  return `data:${found};base64,${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')}`
}

/** The content of a URL, never empty. Throws a `GatewayError` 400 that names the field. */
export async function contentAt(
  url: string,
  place: string | undefined,
  fetchContent: FetchContent,
  signal: AbortSignal,
): Promise<Content> {
  const content = await fetched(url, place, fetchContent, signal)
  const { status, bytes } = content
  if (status < 200 || status > 299) throw badRequest(`The URL returned status ${status}`, place)
  if (bytes.byteLength === 0) throw badRequest('The content of the URL is empty', place)
  return content
}

async function fetched(
  url: string,
  place: string | undefined,
  fetchContent: FetchContent,
  signal: AbortSignal,
): Promise<Content> {
  try {
    return await fetchContent(url, signal)
  } catch (error) {
    if (error instanceof GatewayError) throw error.status === 503 ? error : badRequest(error.message, place)
    if (error instanceof UpstreamError) {
      throw badRequest(`The URL could not be fetched: ${sentenceOf(error)}`, place)
    }
    throw error
  }
}

/** Reveals nothing about the gateway's network. */
function sentenceOf(error: UpstreamError): string {
  if (error.kind === 'timeout') return 'it did not answer in time'
  if (error.kind === 'malformed') return error.reason
  return 'no server replied there'
}

function withReplaced(message: Message, replacements: ReadonlyMap<string, string>): Message {
  if (message.content === null || typeof message.content === 'string') return message
  return { ...message, content: message.content.map((part) => partReplaced(part, replacements)) }
}

function partReplaced(part: ContentPart, replacements: ReadonlyMap<string, string>): ContentPart {
  const url = addressOf(part)
  const content = url === null ? undefined : replacements.get(url)
  if (content === undefined) return part
  if (part.type === 'file') return { ...part, data: content }
  return part.type === 'image' || part.type === 'video' ? { ...part, url: content } : part
}

/** Copies the body and replaces URLs in its address fields by their contents. */
function replaced(body: JsonObject, replacements: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, copyOf(name, value, replacements)]),
  )
}

function copyOf(field: string, value: unknown, replacements: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return isAddressField(field) ? (replacements.get(value) ?? value) : value
  if (Array.isArray(value)) return value.map((item) => copyOf(field, item, replacements))
  return isObject(value) ? replaced(value, replacements) : value
}
