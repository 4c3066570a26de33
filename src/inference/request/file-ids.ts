import type { Caller } from '../../core/caller.ts'
import { GatewayError, notFound } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { UploadedFile, UploadedFiles } from '../../core/uploaded-file.ts'
import { type BodyLease, takeBody } from '../../http/body-budget.ts'

/** The gateway's file ids. Other ids are a provider's, and are forwarded. */
const OWN_ID = /^file_[0-9a-f]{32}$/
/** The maximum size of all files of a request. Providers accept about as much. */
const MOST_BYTES = 50_000_000

type Dialect = 'chat' | 'responses' | 'messages' | 'gemini'

const FIELDS: Readonly<Record<Dialect, string>> = {
  chat: 'messages',
  responses: 'input',
  messages: 'messages',
  gemini: 'contents',
}

interface Found {
  /** The object that has the id. */
  holder: JsonObject
  id: string
  place: string
}

interface Named extends Pick<Found, 'holder'> {
  file: UploadedFile
}

/**
 * Replaces each `file_id` of an uploaded file by the file's content, in the dialect's form. Returns the same body if it
 * contains none. Throws a `GatewayError`: 404 for a file that the workspace does not have, 413 for more than 50 MB in
 * total, 503 if they exceed the memory of bodies in flight.
 */
export function withFiles(
  body: JsonObject,
  dialect: Dialect,
  caller: Caller,
  files: UploadedFiles,
  lease: BodyLease,
): JsonObject | Promise<JsonObject> {
  return namesFile(body[FIELDS[dialect]]) ? withContents(body, dialect, caller, files, lease) : body
}

function namesFile(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(namesFile)
  for (const name in value) if (namesFile(Reflect.get(value, name))) return true
  return isObject(value) && isOwnId(idIn(value))
}

const idIn = (holder: JsonObject): unknown => holder['file_id'] ?? holder['fileUri']
const isOwnId = (id: unknown): id is string => typeof id === 'string' && OWN_ID.test(id)

async function withContents(
  body: JsonObject,
  dialect: Dialect,
  { workspace }: Caller,
  files: UploadedFiles,
  lease: BodyLease,
): Promise<JsonObject> {
  const field = FIELDS[dialect]
  const found: Found[] = []
  collect(body[field], field, found)
  const named: Named[] = []
  for (const { holder, id, place } of found) {
    const file = await files.find(id, workspace.id)
    if (file === undefined) throw notFound(`${place}.file_id: there is no file with this id`)
    named.push({ holder, file })
  }
  const total = named.reduce((sum, { file }) => sum + file.sizeBytes, 0)
  if (total > MOST_BYTES) {
    throw new GatewayError(
      413,
      `The files of the request have ${(total / 1_000_000).toFixed(1)} MB in total; at most ${MOST_BYTES / 1_000_000} MB are allowed`,
    )
  }
  // As base64.
  takeBody(lease, Math.ceil((total * 4) / 3))
  const contents = new Map<JsonObject, JsonObject>()
  for (const { holder, file } of named) contents.set(holder, await contentFor[dialect](holder, file))
  return { ...body, [field]: replaced(body[field], contents) }
}

function collect(value: unknown, place: string, found: Found[]): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(item, `${place}[${index}]`, found)
    return
  }
  if (!isObject(value)) return
  const id = idIn(value)
  if (isOwnId(id)) {
    found.push({ holder: value, id, place })
    return
  }
  for (const [name, item] of Object.entries(value)) {
    if (typeof item === 'object' && item !== null) collect(item, `${place}.${name}`, found)
  }
}

const base64 = async (file: UploadedFile): Promise<string> =>
  Buffer.from(await file.bytes()).toString('base64')
const dataUrl = async (file: UploadedFile): Promise<string> =>
  `data:${file.mimeType};base64,${await base64(file)}`

const contentFor: Record<Dialect, (holder: JsonObject, file: UploadedFile) => Promise<JsonObject>> = {
  /** `file: {file_id}` */
  async chat({ file_id: _, filename, ...rest }, file) {
    return { filename: filename ?? file.filename, ...rest, file_data: await dataUrl(file) }
  },
  /** `{type: "input_file" | "input_image", file_id}` */
  async responses({ file_id: _, ...rest }, file) {
    const content = await dataUrl(file)
    return rest['type'] === 'input_image'
      ? { ...rest, image_url: content }
      : { filename: file.filename, ...rest, file_data: content }
  },
  /** `source: {type: "file", file_id}` */
  async messages(_, file) {
    if (!/^text\/|json$|xml$/.test(file.mimeType)) {
      return { type: 'base64', media_type: file.mimeType, data: await base64(file) }
    }
    return { type: 'text', media_type: 'text/plain', data: new TextDecoder().decode(await file.bytes()) }
  },
  /** `fileData: {fileUri}` */
  async gemini({ fileUri: _, ...rest }, file) {
    return { displayName: file.filename, ...rest, mimeType: file.mimeType, fileUri: await dataUrl(file) }
  },
}

function replaced(value: unknown, contents: ReadonlyMap<JsonObject, JsonObject>): unknown {
  if (Array.isArray(value)) return value.map((item) => replaced(item, contents))
  if (!isObject(value)) return value
  const content = contents.get(value)
  if (content !== undefined) return content
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replaced(item, contents)]))
}
