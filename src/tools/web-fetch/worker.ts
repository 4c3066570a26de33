import { decodePage } from './charset.ts'
import { readablePage } from './readable.ts'

/** A page to be read: an entry point of its own, because it runs in a thread of its own. */
export interface PageTask {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly contentType: string
  readonly url: string
  readonly isHtml: boolean
  /** The longest text of the answer. */
  readonly mostCharacters: number
}

self.onmessage = ({ data }: MessageEvent<PageTask>) => {
  const { bytes, contentType, url, isHtml, mostCharacters } = data
  const text = decodePage(bytes, contentType)
  const page = isHtml ? readablePage(text, url) : { title: '', text }
  self.postMessage({
    ...page,
    text: page.text.slice(0, mostCharacters),
    isCut: page.text.length > mostCharacters,
  })
}
