import { open } from 'node:fs/promises'

/** Text has no signature: its type follows from its name, and it must be UTF-8. */
const TEXT_TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  jsonl: 'application/x-ndjson',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  md: 'text/markdown',
  markdown: 'text/markdown',
  html: 'text/html',
  xml: 'application/xml',
}
const SAMPLE_BYTES = 64 * 1024

/** The media type of a file, by its content; `application/octet-stream` if unknown. A name alone never makes it an image. */
export async function mediaTypeOf(path: string, filename: string): Promise<string> {
  const { fileTypeFromBlob } = await import('file-type')
  // By its path the library would load a package at run time (file-type 22), which the binary does not have.
  const known = await fileTypeFromBlob(Bun.file(path))
  if (known !== undefined) return known.mime
  if (!(await isText(path))) return 'application/octet-stream'
  const extension = filename.split('.').at(-1)?.toLowerCase() ?? ''
  return Object.hasOwn(TEXT_TYPES, extension) ? (TEXT_TYPES[extension] ?? 'text/plain') : 'text/plain'
}

/** UTF-8 without control characters, as far as its beginning shows. */
async function isText(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, 0)
    // A character that the sample cuts is not wrong.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead), {
      stream: true,
    })
    return !/[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(text)
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  } finally {
    await file.close()
  }
}
