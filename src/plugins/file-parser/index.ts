import { base64Of, dataUrlHead } from '../../core/data-url.ts'
import type { DocumentText } from '../../core/document-reader.ts'
import { badRequest } from '../../core/errors.ts'
import { asText, fieldsOf, objectsIn } from '../../core/json.ts'
import type { ContentPart, InferenceRequest, Message } from '../../core/request.ts'
import { findVariant } from '../../core/variant.ts'
import type { Plugin, PluginContext } from '../plugin.ts'
import { annotatedFrames, annotationOf, knownTexts, withoutFiles } from './annotations.ts'
import { shownFile } from './shown.ts'

type FilePart = Extract<ContentPart, { type: 'file' }>

const ID = 'file-parser'
const PLACE = 'plugins.file-parser.pdf.engine'
const MOST_FILES = 32
/** Endpoints that read files read these. */
const PDF = 'application/pdf'

/** Writes the text of files into the conversation, for models that do not read them. */
export const fileParser: Plugin = {
  id: ID,
  isUsual: ({ messages }) => messages.some(hasFile),
  async request(request, options, context) {
    const engine = asText(fieldsOf(options['pdf'])['engine'])
    const found = request.messages.flatMap(filesOf)
    // Without an engine, files go to endpoints that may read them as they are.
    const isNative = engine === 'native' || (engine === undefined && mayReadFiles(request, context))
    const isNamed = objectsIn(request.body['plugins']).some(({ id }) => id === ID)
    const parts = found.filter((part) => isRead(part, isNative, isNamed && engine !== 'native'))
    if (parts.length === 0) return request
    // Of a request it is refused before; here it is of a workspace or a guardrail.
    if (engine === 'mistral-ocr') throw badRequest('"mistral-ocr" is not available', PLACE)
    if (parts.length > MOST_FILES)
      throw badRequest(`The request has ${parts.length} files to be read; at most ${MOST_FILES} are allowed`)
    const known = knownTexts(request.messages)
    const texts = new Map<ContentPart, DocumentText>()
    // One after the other: each may take 50 MB.
    for (const part of parts) texts.set(part, await textOfFile(part, known, context))
    context.report({
      type: 'plugin',
      name: 'file-parser',
      summary: `${texts.size} of ${found.length} files were read as text`,
      data: {
        files: [...texts].map(([part, { kind, pages, isCut, hash }]) => ({
          ...(part.type === 'file' && part.filename ? { name: part.filename } : {}),
          kind,
          ...(pages === null ? {} : { pages }),
          ...(isCut ? { cut: true } : {}),
          ...(known.has(hash) ? { from_annotations: true } : {}),
        })),
      },
    })
    return withTexts(request, texts)
  },
  frames: (frames, _, { request }) =>
    request.dialect === 'chat' ? annotatedFrames(frames, request.fileAnnotations ?? []) : frames,
}

const isFile = (part: ContentPart): part is FilePart => part.type === 'file' && part.data !== undefined
const filesOf = ({ content }: Message): FilePart[] =>
  content === null || typeof content === 'string' ? [] : content.filter(isFile)
const hasFile = ({ content }: Message): boolean =>
  content !== null && typeof content !== 'string' && content.some(isFile)

/** Unless the request names the plugin, files of text and media stay what the dialects make of them. */
function isRead({ data = '', filename = '' }: FilePart, isNative: boolean, mayReadText: boolean): boolean {
  const type = dataUrlHead(data)?.mediaType.toLowerCase() ?? ''
  if (/^(?:image|audio|video)\//.test(type)) return false
  const isText = type === '' ? TEXT_NAME.test(filename) : TEXT_TYPE.test(type)
  if (isText) return mayReadText
  // Models that read files rarely read other kinds.
  return !isNative || (mayReadText && type !== '' && type !== PDF)
}
const TEXT_TYPE = /^text\/|json$|xml$|yaml$/
const TEXT_NAME = /\.(?:txt|md|csv|json|xml|ya?ml|html?)$/i

/** True if an endpoint of the models reads files, or is not known not to. */
function mayReadFiles({ models }: InferenceRequest, { snapshot }: PluginContext): boolean {
  const endpoints = models.flatMap((name) => findVariant(name, snapshot.models)?.model.endpoints ?? [])
  return (
    endpoints.length === 0 ||
    endpoints.some(
      ({ inputModalities: known }) => known.length === 0 || known.includes('file') || known.includes('image'),
    )
  )
}

async function textOfFile(
  { data = '', filename = '' }: FilePart,
  known: ReadonlyMap<string, string>,
  { documents, fetchContent, signal }: PluginContext,
): Promise<DocumentText> {
  const head = dataUrlHead(data)
  const sent =
    head === null && /^https?:/i.test(data)
      ? await fetchContent(data, signal)
      : {
          mediaType: head?.mediaType ?? '',
          bytes: Buffer.from(head === null ? data : base64Of(data, head), 'base64'),
        }
  const bytes = new Uint8Array(sent.bytes)
  if (known.size > 0) {
    const hash = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')
    const text = known.get(hash)
    if (text !== undefined) return { kind: 'text', text, pages: null, isCut: false, hash }
  }
  return documents.read({ name: filename, mediaType: sent.mediaType, bytes }, signal)
}

function withTexts(
  request: InferenceRequest,
  texts: ReadonlyMap<ContentPart, DocumentText>,
): InferenceRequest {
  const messages = request.messages.map((message): Message => {
    const { content } = message
    if (content === null || typeof content === 'string') return withoutFiles(message)
    return {
      ...withoutFiles(message),
      content: content.map((part) => {
        const text = texts.get(part)
        if (text === undefined || part.type !== 'file') return part
        return { type: 'text', text: shownFile(part.filename ?? '', text) }
      }),
    }
  })
  const fileAnnotations = [...texts].map(([part, text]) =>
    annotationOf(part.type === 'file' ? (part.filename ?? '') : '', text),
  )
  return { ...request, messages, rewritten: true, fileAnnotations }
}
