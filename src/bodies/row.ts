import type { StoredResponse } from '../core/stored-response.ts'
import type { ResponsePart, responses } from '../db/bodies-tables.ts'
import type { Place } from '../db/seal.ts'

export type ResponseRow = typeof responses.$inferSelect

export const rowOf = (response: StoredResponse): ResponseRow => ({
  id: response.id,
  workspace_id: response.workspaceId,
  key_hash: response.keyHash,
  generation_id: response.generationId,
  status: response.status,
  model: response.model,
  previous_response_id: response.previousResponseId,
  background: response.background,
  streamed: response.streamed,
  created_at: new Date(response.createdAt),
  expires_at: new Date(response.expiresAt),
})

export const responseOf = (row: ResponseRow): StoredResponse => ({
  id: row.id,
  workspaceId: row.workspace_id,
  keyHash: row.key_hash,
  generationId: row.generation_id,
  status: row.status,
  model: row.model,
  previousResponseId: row.previous_response_id,
  background: row.background,
  streamed: row.streamed,
  createdAt: row.created_at.getTime(),
  expiresAt: row.expires_at.getTime(),
})

/** A part that is moved to another row, another workspace or another place in its row cannot be opened. */
export const placeOf = (id: string, workspaceId: string, part: ResponsePart, first = 0): Place => ({
  table: 'response_parts',
  column: `${part}.${first}`,
  rowId: id,
  workspaceId,
})
