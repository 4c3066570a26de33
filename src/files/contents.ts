import type { UploadedFiles } from '../core/uploaded-file.ts'
import type { FileStore } from './store.ts'

/** The stored files, for requests that name them. */
export const uploadedFiles = (store: FileStore): UploadedFiles => ({
  async find(id, workspaceId) {
    const row = await store.find(id, workspaceId)
    if (row === undefined) return undefined
    return {
      filename: row.filename,
      mimeType: row.mime_type,
      sizeBytes: row.size_bytes,
      bytes: () => store.open(id).bytes(),
    }
  },
})
