/** A file that a caller uploaded before and names in a request. */
export interface UploadedFile {
  readonly filename: string
  /** By its content. */
  readonly mimeType: string
  readonly sizeBytes: number
  bytes(): Promise<Uint8Array>
}

export interface UploadedFiles {
  /** Undefined: the workspace has no file with this id. */
  find(id: string, workspaceId: string): Promise<UploadedFile | undefined>
}
