import type { Carrier } from '../../core/carrier.ts'
import type { DialectName, JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { innerOf, isSealedSignature, signatureOf } from '../../dialects/gemini/signatures.ts'
import { isSealed, opened, seal } from '../../dialects/opaque.ts'

export interface OpenedBody {
  readonly body: JsonObject
  /** Names of fields that could not be opened, for the routing metadata. */
  readonly unreadable: readonly string[]
}

/**
 * Opens sealed provider state from earlier replies that a client sends back. State that was changed, or sealed with
 * another secret key or for another workspace, is removed and reported. Returns the same body if nothing is sealed.
 */
export function withCarried(body: JsonObject, dialect: DialectName, carrier: Carrier): OpenedBody {
  const place = PLACES[dialect]
  const list: unknown = place && body[place.field]
  if (place === undefined || !Array.isArray(list)) return { body, unreadable: [] }
  const unreadable = new Set<string>()
  const open = (sealed: string, name: string): string | null => {
    const text = opened(sealed, carrier)
    if (text === null) unreadable.add(name)
    return text
  }
  const read = changed(list, (item) => place.open(item, open))
  return { body: read === list ? body : { ...body, [place.field]: read }, unreadable: [...unreadable] }
}

type Open = (sealed: string, name: string) => string | null

/** Where clients send sealed state. Other dialects have none. */
const PLACES: Partial<Record<DialectName, { field: string; open(value: unknown, open: Open): unknown }>> = {
  responses: { field: 'input', open: openItem },
  messages: { field: 'messages', open: openMessage },
  gemini: { field: 'contents', open: openContent },
}

/** Maps a list. Returns the same list if no element changed. */
function changed(list: readonly unknown[], each: (value: unknown) => unknown): readonly unknown[] {
  let copy: unknown[] | undefined
  for (const [index, value] of list.entries()) {
    const read = each(value)
    if (read === value) continue
    copy ??= [...list]
    copy[index] = read
  }
  return copy ?? list
}

/** If it cannot be opened, the item keeps only its visible text. */
function openItem(item: unknown, open: Open): unknown {
  if (!isObject(item) || item['type'] !== 'reasoning' || !isSealed(item['encrypted_content'])) return item
  const { encrypted_content: sealed, ...rest } = item
  const text = open(sealed, 'input.reasoning')
  return text === null ? rest : { ...rest, encrypted_content: text }
}

function openMessage(message: unknown, open: Open): unknown {
  if (!isObject(message) || message['role'] !== 'assistant' || !Array.isArray(message['content']))
    return message
  const content = changed(message['content'], (block) => openBlock(block, open))
  return content === message['content'] ? message : { ...message, content }
}

/** If a signature cannot be opened, the part is sent without it, and the field is reported. */
function openContent(content: unknown, open: Open): unknown {
  if (!isObject(content) || !Array.isArray(content['parts'])) return content
  const parts = changed(content['parts'], (part) => {
    if (!isObject(part) || !isSealedSignature(part['thoughtSignature'])) return part
    const { thoughtSignature, ...rest } = part
    const text = open(innerOf(String(thoughtSignature)), 'contents.parts.thoughtSignature')
    return text === null ? rest : { ...rest, thoughtSignature: signatureOf(text) }
  })
  return parts === content['parts'] ? content : { ...content, parts }
}

/** Thinking must be signed: if a signature cannot be opened, an empty sealed state replaces it. */
function openBlock(block: unknown, open: Open): unknown {
  if (!isObject(block)) return block
  const field = block['type'] === 'thinking' ? 'signature' : 'data'
  const sealed = block[field]
  if ((field === 'data' && block['type'] !== 'redacted_thinking') || !isSealed(sealed)) return block
  return { ...block, [field]: open(sealed, 'messages.content.thinking') ?? seal({}) }
}
