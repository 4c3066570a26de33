import { dataUrlHead } from '../../core/data-url.ts'
import type { ContentPart } from '../../core/request.ts'

/** Kinds of parts of a prompt that some endpoints do not take. */
export type PartKind = 'image' | 'audio' | 'file' | 'video' | 'imageOfTool'

export const kindsOf = (parts: readonly ContentPart[], isOfTool: boolean): Set<PartKind> =>
  new Set(parts.flatMap((part) => kindOf(part, isOfTool) ?? []))

/** The kind of a part for which an endpoint must be made; null: any reads it. Files of text are sent as text. */
export function kindOf(part: ContentPart, isOfTool: boolean): PartKind | null {
  switch (part.type) {
    case 'text':
    case 'unknown':
      return null
    case 'file':
      return kindOfFile(part.data ?? '', part.filename ?? '')
    case 'image':
      return isOfTool ? 'imageOfTool' : 'image'
    default:
      return part.type
  }
}

function kindOfFile(data: string, name: string): PartKind | null {
  const mediaType = dataUrlHead(data)?.mediaType.toLowerCase() ?? ''
  for (const kind of FILES_OF) if (mediaType.startsWith(`${kind}/`)) return kind
  const isText = mediaType === '' ? TEXT_NAME.test(name) : TEXT_TYPE.test(mediaType)
  return isText ? null : 'file'
}
const FILES_OF = ['image', 'audio', 'video'] as const
const TEXT_NAME = /\.(?:txt|md|csv|json|xml|ya?ml|html?)$/i
const TEXT_TYPE = /^text\/|json$|xml$|yaml$/
