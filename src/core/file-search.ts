/** Searches the uploaded files of one workspace by their words. */
export interface FileSearch {
  /** Rejects with a `GatewayError` 404 that names the place if the workspace lacks one of these files. */
  check(ids: readonly string[], place: string): Promise<void>
  /**
   * Reads files that were not searched before, in a thread of their own, for as long as the bound allows. Rejects with the
   * signal's reason.
   */
  find(wanted: WantedPassages, signal: AbortSignal): Promise<FoundPassages>
}

/** How far the search is with a file. */
export interface SearchStatus {
  /** `unread`: the first search that includes the file reads it. `ready`: searches find its passages. */
  readonly status: 'unread' | 'reading' | 'ready' | 'refused'
  /** Why it cannot be searched, as the end of a sentence about the file. */
  readonly reason?: string
}

export interface WantedPassages {
  readonly query: string
  /** Absent: all files of the workspace, the newest first up to a bound. */
  readonly fileIds?: readonly string[] | undefined
  /** True for a file that is to be searched. */
  isWanted(file: SearchableFile): boolean
  readonly most: number
  /** Searches by meaning too. Absent: by words alone. */
  readonly embedder?: Embedder | undefined
}

export interface Embedder {
  /** The model. Vectors of different models are never compared. */
  readonly model: string
  /** One vector for each text, in order: models may embed a query otherwise than a passage. Throws the caller's error. */
  embed(texts: readonly string[], use: 'query' | 'document'): Promise<readonly Float32Array[]>
}

export interface SearchableFile {
  readonly id: string
  readonly filename: string
  readonly mime_type: string
  readonly size_bytes: number
  /** Unix seconds. */
  readonly created_at: number
}

export interface Passage {
  readonly fileId: string
  readonly filename: string
  readonly text: string
  /** Against the best passage, which has 1. */
  readonly score: number
}

export interface FoundPassages {
  /** Best first. */
  readonly passages: readonly Passage[]
  /** How many files were searched. */
  readonly searched: number
  /** Files without text that could be read, and why. */
  readonly unreadable: readonly { readonly filename: string; readonly reason: string }[]
  /** Files that are still being read: a later search finds them. */
  readonly pending: number
  /** The workspace has more files than one search covers. */
  readonly isCut: boolean
}
