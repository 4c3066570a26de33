import { base64Of, dataUrlHead } from '../../core/data-url.ts'
import type { DocumentFile } from '../../core/document-reader.ts'
import { badRequest } from '../../core/errors.ts'
import { asText, fieldsOf, objectsIn } from '../../core/json.ts'
import type { ContentPart, InferenceRequest, Message } from '../../core/request.ts'
import type { Plugin, PluginContext } from '../plugin.ts'
import { annotatedFrames, annotationOf, knownTexts, withoutFiles } from './annotations.ts'
import { endpointsOf, type ReadText, recognized } from './ocr.ts'
import { shownFile } from './shown.ts'

type FilePart = Extract<ContentPart, { type: 'file' }>

const ID = 'file-parser'
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
    if (parts.length > MOST_FILES)
      throw badRequest(`The request has ${parts.length} files to be read; at most ${MOST_FILES} are allowed`)
    const known = knownTexts(request.messages)
    const texts = new Map<ContentPart, ReadText>()
    const wants = sees(request, context) ? 'scans' : 'text'
    const read = engine === 'mistral-ocr' ? recognized : readHere
    // One after the other: each may take 50 MB.
    for (const part of parts) {
      const text = await textOfFile(part, known, wants, read, context)
      texts.set(part, { ...text, text: await context.filtered(text.text) })
    }
    context.report({
      type: 'plugin',
      name: 'file-parser',
      summary: `${texts.size} of ${found.length} files were read as text`,
      data: {
        files: [...texts].map(([part, { kind, pages, isCut, hash, scans, model }]) => ({
          ...(part.type === 'file' && part.filename ? { name: part.filename } : {}),
          kind,
          ...(pages === null ? {} : { pages }),
          ...(isCut ? { cut: true } : {}),
          ...(scans && { page_images: scans.length }),
          ...(model && { model }),
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
function mayReadFiles(request: InferenceRequest, context: PluginContext): boolean {
  const endpoints = endpointsOf(request.models, context.snapshot)
  return (
    endpoints.length === 0 ||
    endpoints.some(
      ({ inputModalities: known }) => known.length === 0 || known.includes('file') || known.includes('image'),
    )
  )
}

/** True if an endpoint of the models is known to see. */
const sees = ({ models }: InferenceRequest, { snapshot }: PluginContext): boolean =>
  endpointsOf(models, snapshot).some(({ inputModalities }) => inputModalities.includes('image'))

async function textOfFile(
  { data = '', filename = '' }: FilePart,
  known: ReadonlyMap<string, string>,
  wants: DocumentFile['wants'],
  read: typeof readHere,
  context: PluginContext,
): Promise<ReadText> {
  const head = dataUrlHead(data)
  const sent =
    head === null && /^https?:/i.test(data)
      ? await context.fetchContent(data, context.signal)
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
  return read({ name: filename, mediaType: sent.mediaType, bytes, wants }, context)
}

const readHere = (file: DocumentFile, { readDocument }: PluginContext): Promise<ReadText> =>
  readDocument(file)

function withTexts(request: InferenceRequest, texts: ReadonlyMap<ContentPart, ReadText>): InferenceRequest {
  const messages = request.messages.map((message): Message => {
    const { content } = message
    if (content === null || typeof content === 'string') return withoutFiles(message)
    return {
      ...withoutFiles(message),
      content: content.flatMap((part): ContentPart[] => {
        const text = texts.get(part)
        if (text === undefined || part.type !== 'file') return [part]
        const images = (text.scans ?? []).map(({ url }) => ({ type: 'image' as const, url }))
        return [{ type: 'text', text: shownFile(part.filename ?? '', text) }, ...images]
      }),
    }
  })
  // A text without its scans would say too little of the file.
  const fileAnnotations = [...texts].flatMap(([part, text]) =>
    text.scans === undefined ? [annotationOf(part.type === 'file' ? (part.filename ?? '') : '', text)] : [],
  )
  return { ...request, messages, rewritten: true, fileAnnotations }
}
