import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { badRequest, GatewayError, payloadTooLarge, storageFailure } from '../core/errors.ts'

/** An uploaded file: its name, and its bytes on disk at `path`. */
export interface Upload {
  readonly filename: string
  readonly sizeBytes: number
  /** Of the content, in hex. */
  readonly sha256: string
}

const FIELD = 'file'
const FORM_TYPE = /^multipart\/form-data\s*;.*\bboundary=/i
/** What the form may have around the file. */
const OVERHEAD_BYTES = 64 * 1024
const MAX_NAME_LENGTH = 255

/**
 * Writes the part `file` of a form to `path` while it arrives. Throws a `GatewayError`: 413 beyond `limitBytes`, 400
 * for a body that is not a form, has no file or several, is empty or truncated; then `path` does not exist.
 */
export async function receiveUpload(request: Request, path: string, limitBytes: number): Promise<Upload> {
  const type = request.headers.get('content-type') ?? ''
  if (!FORM_TYPE.test(type)) {
    throw badRequest('The Content-Type of the request must be multipart/form-data with a boundary')
  }
  if (Number(request.headers.get('content-length')) > limitBytes + OVERHEAD_BYTES) {
    throw payloadTooLarge(limitBytes)
  }
  if (request.body === null) throw badRequest('The request body is empty: a form with a file is expected')
  try {
    return await receive(request.body, type, path, limitBytes)
  } catch (error) {
    await rm(path, { force: true })
    throw error instanceof GatewayError ? error : broken(error)
  }
}

const broken = (cause: unknown): GatewayError =>
  cause instanceof Error && 'syscall' in cause
    ? (storageFailure(cause) ?? new GatewayError(500, 'The file could not be kept', { cause }))
    : badRequest('The request body broke off before its end, or is not a well-formed form')

async function receive(
  body: ReadableStream<Uint8Array>,
  type: string,
  path: string,
  limitBytes: number,
): Promise<Upload> {
  const { Busboy } = await import('@fastify/busboy')
  const parser = new Busboy({
    headers: { 'content-type': type },
    limits: { files: 1, fileSize: limitBytes, fields: 16, fieldSize: 4096, parts: 17 },
  })
  const unkept = new AbortController()
  let writing: Promise<Upload> | null = null
  let problem: GatewayError | null = null
  parser.on('file', (field, stream, filename) => {
    if (field !== FIELD) {
      problem ??= badRequest(`must be named "${FIELD}"`, 'the part of the form that is a file')
      stream.resume()
      return
    }
    writing = keep(stream, path, filename)
    // The parser waits until a file is read, so the rest must be consumed.
    writing.catch((error: unknown) => unkept.abort(error))
    stream.on('limit', () => {
      problem ??= payloadTooLarge(limitBytes)
    })
  })
  parser.on('filesLimit', () => {
    problem ??= badRequest('may come once in a form', FIELD)
  })
  const { signal } = unkept
  await pipeline(Readable.from(chunksOf(body)), counted(limitBytes), parser, { signal }).catch((error) => {
    throw signal.aborted && problem === null ? signal.reason : error
  })
  if (problem !== null) throw problem
  if (writing === null) throw badRequest('is required: the part of the form that is the file', FIELD)
  const upload: Upload = await writing
  if (upload.sizeBytes === 0) throw badRequest('is empty', FIELD)
  return upload
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) yield chunk
}

/** Bodies without a length end here, not only at the file's own limit: fields and other parts count too. */
function counted(limitBytes: number): Transform {
  let size = 0
  return new Transform({
    transform(chunk: Uint8Array, _, done) {
      size += chunk.byteLength
      if (size > limitBytes + OVERHEAD_BYTES) done(payloadTooLarge(limitBytes))
      else done(null, chunk)
    },
  })
}

async function keep(stream: Readable, path: string, filename: string | undefined): Promise<Upload> {
  const hash = createHash('sha256')
  let sizeBytes = 0
  const measured = new Transform({
    transform(chunk: Uint8Array, _, done) {
      hash.update(chunk)
      sizeBytes += chunk.byteLength
      done(null, chunk)
    },
  })
  await pipeline(stream, measured, createWriteStream(path, { mode: 0o600, flags: 'wx' }))
  return { filename: nameOf(filename), sizeBytes, sha256: hash.digest('hex') }
}

/** A name is data: no path, no control characters, and never used as a path here. */
function nameOf(filename: string | undefined): string {
  const last = (filename ?? '').split(/[\\/]/).at(-1) ?? ''
  const name = last.replace(/\p{C}/gu, '').trim().slice(-MAX_NAME_LENGTH)
  return name === '' ? 'file' : name
}
