/** Reads the text of documents, off the thread of all requests. */
export interface DocumentReader {
  /**
   * Throws a `GatewayError` 400 that names the file and says why it cannot be read. Takes the memory of `bytes`. Files of
   * different workspaces take turns.
   */
  read(file: DocumentFile, signal: AbortSignal, workspaceId?: string): Promise<DocumentText>
  close(): void
}

export interface DocumentFile {
  /** For people; '' if unknown. */
  readonly name: string
  /** As the sender says; '' if unknown. */
  readonly mediaType: string
  readonly bytes: Uint8Array<ArrayBuffer>
  /** For a PDF. `scans`: pages without text are returned as images, if they have one. `length`: only counts the pages. */
  readonly wants?: 'text' | 'scans' | 'length'
}

export interface DocumentText {
  /** `PDF`, `DOCX`, `XLSX`, `PPTX`, `HTML` or `text`. */
  readonly kind: string
  readonly text: string
  /** Null for what has no pages. */
  readonly pages: number | null
  /** The document has more text, or more scans. */
  readonly isCut: boolean
  /** Scanned pages, in order. Absent: none. */
  readonly scans?: readonly PageScan[]
  /** SHA-256 of the file, in lower-case hex. */
  readonly hash: string
}

export interface PageScan {
  /** The page's number, from 1. */
  readonly page: number
  /** A data URL of a PNG. */
  readonly url: string
}
