import type { DocumentFile } from '../../core/document-reader.ts'
import { Refusal } from './bounds.ts'
import { readDocument } from './read-document.ts'

/** An entry point of its own, because it runs in a thread of its own. */
self.onmessage = async ({ data }: MessageEvent<DocumentFile>) => {
  try {
    // Before the libraries, which may take the memory of the file.
    const hash = new Bun.CryptoHasher('sha256').update(data.bytes).digest('hex')
    self.postMessage({ ...(await readDocument(data)), hash })
  } catch (error) {
    const refusal = error instanceof Refusal ? error.message : 'it is broken'
    self.postMessage({ refusal, cause: String(error) })
  }
}
