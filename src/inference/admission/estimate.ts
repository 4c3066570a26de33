import type { JsonObject } from '../../core/events.ts'
import { fieldsOf, isObject } from '../../core/json.ts'
import type { ContentPart, InferenceRequest } from '../../core/request.ts'
import { kindOf, type PartKind } from './part-kinds.ts'
import { type PromptBound, tokensIn } from './price.ts'

/**
 * Estimates the prompt's tokens for reservations, rather too high: one token per three UTF-8 bytes (English has four or
 * more, CJK about three), and fixed figures for media. One pass, without network access.
 */
export function estimatePrompt(request: InferenceRequest, mayCacheSeparately = false): PromptBound {
  const media = { audio: 0, image: 0 }
  let images = 0
  let recordings = 0
  let bytes = 0
  let characters = 0
  let tokens = 3
  let kinds: Set<PartKind> | undefined
  for (const message of request.messages) {
    tokens += MESSAGE_OVERHEAD
    if (typeof message.content === 'string') {
      bytes += utf8Bytes(message.content)
      characters += message.content.length
    } else
      for (const part of message.content ?? []) {
        const kind = kindOf(part, message.role === 'tool')
        if (kind !== null) {
          kinds ??= new Set()
          kinds.add(kind)
        } else if (part.type === 'text') characters += part.text.length
        if (part.type === 'audio') {
          media.audio += partTokens(part)
          recordings += 1
        } else if (part.type === 'image' || part.type === 'video') {
          media.image += partTokens(part)
          images += 1
        } else tokens += partTokens(part)
      }
    for (const call of message.toolCalls ?? []) bytes += utf8Bytes(call.name) + utf8Bytes(call.arguments)
    if (message.reasoning !== undefined) bytes += utf8Bytes(message.reasoning)
  }
  for (const tool of request.tools) bytes += utf8Bytes(JSON.stringify(tool))
  if (request.responseFormat) bytes += utf8Bytes(JSON.stringify(request.responseFormat))
  return {
    text: tokens + Math.ceil(bytes / BYTES_PER_TOKEN),
    audio: media.audio,
    image: media.image,
    media: { images, recordings },
    marked: markedOf(request),
    mayCacheSeparately,
    searches: searchesOf(request),
    isDelegated: request.delegated !== undefined,
    least: leastTokens(characters),
    kinds,
  }
}

/** Assumed if the request sets no `max_uses`: models rarely search more often for one reply. */
const UNBOUNDED_SEARCHES = 10
const SEARCH_TOOL = /(?:^|:)(?:web_search|x_search|googleSearch)/

/**
 * The maximum number of web searches, by tools, by chat's `web_search_options` and by plugins that are handed on;
 * `max_uses` if the caller sets it.
 */
function searchesOf({ tools, body, delegated }: InferenceRequest): number {
  let most = isObject(body['web_search_options']) ? UNBOUNDED_SEARCHES : 0
  for (const { id } of delegated?.plugins ?? []) if (id === 'web') most += 1
  for (const tool of tools) {
    if (tool.type !== 'other' || !SEARCH_TOOL.test(String(tool.data['type']))) continue
    const uses = tool.data['max_uses'] ?? fieldsOf(tool.data['parameters'])['max_uses']
    most += typeof uses === 'number' && uses >= 0 ? Math.floor(uses) : UNBOUNDED_SEARCHES
  }
  return most
}

/** The longest time to live of all `cache_control` markers; undefined without markers. */
function markedOf({ body, messages, tools }: InferenceRequest): PromptBound['marked'] {
  let longest: PromptBound['marked']
  const look = (fields: JsonObject | undefined): void => {
    const marker = fields?.['cache_control']
    if (isObject(marker) && longest !== 'hour') longest = marker['ttl'] === '1h' ? 'hour' : 'minutes'
  }
  look(body)
  for (const tool of tools) look(tool.type === 'other' ? tool.data : tool.extra)
  for (const { content, extra, toolCalls } of messages) {
    look(extra)
    for (const call of toolCalls ?? []) look(call.extra)
    if (!Array.isArray(content)) continue
    for (const part of content) look(part.type === 'unknown' ? part.data : part.extra)
  }
  return longest
}

export const estimatePromptTokens = (request: InferenceRequest): number => tokensIn(estimatePrompt(request))

const BYTES_PER_TOKEN = 3
/** No language has more on average: English has four to five, Russian and Hindi about four. */
const MOST_CHARACTERS_PER_TOKEN = 8
const MESSAGE_OVERHEAD = 4
const IMAGE_TOKENS = 1_500
/** The minimum number of tokens of a text with so many characters. */
export const leastTokens = (characters: number): number => Math.floor(characters / MOST_CHARACTERS_PER_TOKEN)
/** The maximum number of tokens of a text. */
export const textTokens = (text: string): number => Math.ceil(utf8Bytes(text) / BYTES_PER_TOKEN)

const utf8Bytes = (text: string): number => Buffer.byteLength(text, 'utf8')
/** Base64 has four characters for three bytes. */
const decodedBytes = (base64: string): number => Math.ceil((base64.length * 3) / 4)

/** The maximum number of tokens of a content part. */
export function partTokens(part: ContentPart): number {
  switch (part.type) {
    case 'text':
      return Math.ceil(utf8Bytes(part.text) / BYTES_PER_TOKEN)
    case 'image':
      return IMAGE_TOKENS
    case 'audio':
      // Compressed speech has 4 to 16 kB and at most 25 tokens per second.
      return Math.ceil(decodedBytes(part.data) / 160)
    case 'file':
      // A PDF page has about 50 kB and at most 3,000 tokens.
      return Math.ceil(decodedBytes(part.data ?? '') / 16) + IMAGE_TOKENS
    case 'video':
      return 20 * IMAGE_TOKENS
    case 'unknown':
      return Math.ceil(utf8Bytes(JSON.stringify(part.data)) / BYTES_PER_TOKEN)
  }
}
