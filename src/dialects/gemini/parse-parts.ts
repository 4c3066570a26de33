import type { JsonObject } from '../../core/events.ts'
import { asText, defined } from '../../core/json.ts'
import type { ContentPart, Message, ToolCall } from '../../core/request.ts'
import { keepWith } from '../dropped.ts'
import { checkImageData } from '../image-data.ts'
import type { Part } from './schema.ts'
import {
  callExtra,
  FOREIGN_CALL,
  isSealedSignature,
  signatureDetail,
  thoughtDetail,
  unsealDetails,
} from './signatures.ts'

const KNOWN = new Set(['text', 'thought', 'thoughtSignature', 'inlineData', 'fileData'])

/**
 * | part | neutral |
 * |---|---|
 * | `text` | text |
 * | `inlineData` | image, audio, video, or a file, by its `mimeType` |
 * | `fileData` with an https address | image, video or file, which the provider reads |
 * | `fileData` of Google's file store, `gs://` | a file by its id: other providers cannot read it |
 * | anything else | unknown: only this dialect can carry it |
 */
export function readPart(part: Part, at: string, keep: Keep): ContentPart[] {
  const { text, inlineData, fileData } = part
  if (inlineData) {
    keep.rest(part, KNOWN, 'contents.parts.')
    return [readData(inlineData.mimeType, inlineData.data, inlineData.displayName, at)]
  }
  if (fileData) {
    keep.rest(part, KNOWN, 'contents.parts.')
    return [readFile(fileData.fileUri, fileData.mimeType ?? '', fileData.displayName)]
  }
  if (typeof text === 'string') {
    keep.rest(part, KNOWN, 'contents.parts.')
    return text === '' ? [] : [{ type: 'text', text }]
  }
  const type = Object.keys(part).find((name) => !KNOWN.has(name))
  return type === undefined ? [] : [{ type: 'unknown', data: { type, ...part } }]
}

function readData(mimeType: string, data: string, name: string | null | undefined, at: string): ContentPart {
  const url = `data:${mimeType};base64,${data}`
  const [kind, subtype = ''] = mimeType.toLowerCase().split(/[/;]/)
  if (kind === 'image') {
    if (!subtype.startsWith('svg')) checkImageData(data, `${at}.inlineData.data`)
    return { type: 'image', url }
  }
  if (kind === 'audio') return { type: 'audio', data, format: AUDIO[subtype] ?? subtype }
  if (kind === 'video') return { type: 'video', url }
  return defined({ type: 'file', data: url, filename: name || undefined })
}

/** Aliases of formats. */
const AUDIO: Readonly<Record<string, string>> = { mpeg: 'mp3', 'x-wav': 'wav', wave: 'wav' }

const GOOGLES = /^(?:gs:\/\/|files\/|https:\/\/generativelanguage\.googleapis\.com\/)/i
const VIDEO_SITE = /^https:\/\/(?:(?:www|m)\.)?(?:youtube\.com|youtu\.be)\//i
const DATA_URL = /^data:([^;,]*);base64,/i

function readFile(uri: string, mimeType: string, name: string | null | undefined): ContentPart {
  const inline = DATA_URL.exec(uri)
  if (inline) return readData(inline[1] || mimeType, uri.slice(inline[0].length), name, '')
  if (GOOGLES.test(uri)) return { type: 'file', fileId: uri }
  if (/^image\//i.test(mimeType)) return { type: 'image', url: uri }
  if (/^video\//i.test(mimeType) || VIDEO_SITE.test(uri)) return { type: 'video', url: uri }
  return defined({ type: 'file', data: uri, filename: name || undefined })
}

/** The thoughts of one turn of the model: turns the parts that `write-parts.ts` wrote back into reasoning details. */
interface Thoughts {
  addThought(text: string, signature: string): void
  /** A signature on a text, or on an empty one. */
  addLoose(signature: string): void
  /** The signature of a call. Returns what the call itself carries. */
  addCall(id: string, signature: string): Pick<ToolCall, 'extra'>
  read(): Pick<Message, 'reasoning' | 'reasoningDetails'>
}

/**
 * | part | detail |
 * |---|---|
 * | a signature that the gateway sealed | the details in it, once |
 * | a thought with a signature of Google's | its text, and the signature |
 * | a call or a text with a signature of Google's | the signature |
 * | a thought without a signature | text alone |
 *
 * The sealed details include all thoughts of the turn, so the thoughts beside them are duplicates.
 */
export function createThoughts(): Thoughts {
  const own: JsonObject[] = []
  const sealed: JsonObject[] = []
  const seen = new Set<string>()
  const texts: string[] = []

  function unseal(signature: string): void {
    if (seen.has(signature)) return
    seen.add(signature)
    sealed.push(...unsealDetails(signature))
  }

  function add(signature: string, callId?: string): boolean {
    if (signature === '' || signature === FOREIGN_CALL) return false
    if (isSealedSignature(signature)) unseal(signature)
    else own.push(signatureDetail(signature, callId))
    return !isSealedSignature(signature)
  }

  return {
    addThought(text, signature) {
      if (text !== '') texts.push(text)
      if (signature !== '' && !isSealedSignature(signature) && text !== '') own.push(thoughtDetail(text))
      add(signature)
    },
    addLoose(signature) {
      add(signature)
    },
    addCall: (id, signature) => (add(signature, id) ? { extra: callExtra(signature) } : {}),
    read() {
      const details = [...sealed, ...own]
      const reasoning = texts.length > 0 ? texts.join('') : sealed.map(textIn).join('')
      return {
        ...(reasoning === '' ? {} : { reasoning }),
        ...(details.length === 0 ? {} : { reasoningDetails: details }),
      }
    },
  }
}

const textIn = ({ text, summary }: JsonObject): string => asText(text ?? summary) ?? ''

/** Collects the names of fields that only this dialect can carry. */
export type Keep = ReturnType<typeof createKeep>

/** `rest` names the fields of an object that are not in `carried`, as fields of `place`. */
export const createKeep = () =>
  keepWith((keep) => (object: JsonObject, carried: ReadonlySet<string>, place: string): void => {
    for (const [name, value] of Object.entries(object)) {
      if (value !== null && value !== undefined && !carried.has(name)) keep(`${place}${name}`)
    }
  })
