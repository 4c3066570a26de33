import type { JsonObject } from '../../core/events.ts'
import { defined, restOf } from '../../core/json.ts'
import type { ContentPart } from '../../core/request.ts'
import { checkImageData } from '../image-data.ts'
import type { Keep } from './fields.ts'
import type { DocumentBlock, ImageBlock, SearchResultBlock, TextBlock, UserBlock } from './schema-messages.ts'

type ContentBlock = Exclude<UserBlock, { type: 'tool_result' }> | { type: 'tool_reference' | 'browser_state' }

/**
 * | block | neutral |
 * |---|---|
 * | `text` | text |
 * | `image` | image, from a data URL or an address; a file if it is named by an id |
 * | `document` of base64, an address, a file id | file; `title` is its name |
 * | `document` of text or content | texts and images, under its title and context |
 * | `search_result` | a text: title, source, and what was found |
 * | what runs at the provider | unknown: only this dialect can carry it |
 *
 * `cache_control` markers and unknown fields are kept in `extra`.
 */
export function readBlock(block: ContentBlock, at: string, keep: Keep): ContentPart[] {
  switch (block.type) {
    case 'text':
      return [readText(block, keep)]
    case 'image':
      return [readImage(block, at, keep)]
    case 'document':
      return readDocument(block, at, keep)
    case 'search_result':
      return [readSearchResult(block, keep)]
    default:
      return [{ type: 'unknown', data: { ...block } }]
  }
}

export const readBlocks = (blocks: readonly ContentBlock[], at: string, keep: Keep): ContentPart[] =>
  blocks.flatMap((block, i) => readBlock(block, `${at}[${i}]`, keep))

const TEXT = new Set(['type', 'text', 'citations'])

export function readText(block: TextBlock, keep: Keep): ContentPart {
  if (block.citations && block.citations.length > 0) keep('messages.content.citations')
  return defined({
    type: 'text',
    text: block.text,
    extra: keep.rest(restOf(block, TEXT), 'messages.content'),
  })
}

const IMAGE = new Set(['type', 'source'])

function readImage(block: ImageBlock, at: string, keep: Keep): ContentPart {
  const { source } = block
  const extra = keep.rest(restOf(block, IMAGE), 'messages.content')
  if (source.type === 'file') return defined({ type: 'file', fileId: source.file_id, extra })
  if (source.type === 'url') return defined({ type: 'image', url: source.url, extra })
  checkImageData(source.data, `${at}.source.data`)
  return defined({ type: 'image', url: `data:${source.media_type};base64,${source.data}`, extra })
}

const DOCUMENT = new Set(['type', 'source', 'title', 'context', 'citations'])

function readDocument(block: DocumentBlock, at: string, keep: Keep): ContentPart[] {
  const { source, title, context, citations } = block
  if (citations?.enabled === true) keep('messages.content.citations')
  const extra = keep.rest(restOf(block, DOCUMENT), 'messages.content')
  const filename = title ?? undefined
  switch (source.type) {
    case 'text':
      return [defined({ type: 'text', text: headed(title, context, source.data), extra })]
    case 'content': {
      if (typeof source.content === 'string') {
        return [defined({ type: 'text', text: headed(title, context, source.content), extra })]
      }
      const head = headed(title, context, '')
      const parts = readBlocks(source.content, `${at}.source.content`, keep)
      return [...(head === '' ? [] : [{ type: 'text' as const, text: head }]), ...marked(parts, extra)]
    }
    case 'base64': {
      const data = `data:${source.media_type};base64,${source.data}`
      return withContext(defined({ type: 'file', data, filename, extra }), context)
    }
    case 'url':
      return withContext(defined({ type: 'file', data: source.url, filename, extra }), context)
    case 'file':
      return withContext(defined({ type: 'file', fileId: source.file_id, filename, extra }), context)
  }
}

const headed = (title: string | null | undefined, context: string | null | undefined, text: string): string =>
  [title, context, text].filter(Boolean).join('\n\n')

/** The context of a document is for the model, but not part of the document. */
const withContext = (part: ContentPart, context: string | null | undefined): ContentPart[] =>
  context ? [{ type: 'text', text: context }, part] : [part]

/** A marker on the document moves to the last of its parts. */
function marked(parts: ContentPart[], extra: JsonObject | undefined): ContentPart[] {
  const last = parts.at(-1)
  if (extra === undefined || last === undefined || last.type === 'unknown') return parts
  return [...parts.slice(0, -1), { ...last, extra: { ...last.extra, ...extra } }]
}

const SEARCH_RESULT = new Set(['type', 'source', 'title', 'content', 'citations'])

function readSearchResult(block: SearchResultBlock, keep: Keep): ContentPart {
  if (block.citations?.enabled === true) keep('messages.content.citations')
  const text = [block.title, block.source, ...block.content.map((each) => each.text)].join('\n')
  const extra = keep.rest(restOf(block, SEARCH_RESULT), 'messages.content')
  return defined({ type: 'text', text, extra })
}
