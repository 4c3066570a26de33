import { and, eq, gt } from 'drizzle-orm'
import type { EndedContent, GenerationContent } from '../core/generation-content.ts'
import { jsonInSteps } from '../core/json-steps.ts'
import { loggedContents } from '../db/bodies-tables.ts'
import { atomically, type Database } from '../db/database.ts'
import type { Place, Sealer } from '../db/seal.ts'
import { pack, unpack } from './pack.ts'

export interface ContentStoreDeps {
  /** The file of sealed bodies, migrated. */
  bodies: Database
  sealer: Sealer
  /** Milliseconds since 1970. */
  now(): number
  retentionMs: number
}

export type ContentRow = typeof loggedContents.$inferInsert

/** A content that is moved to another row or another workspace cannot be opened. */
const placeOf = (generationId: string, workspaceId: string): Place => ({
  table: 'logged_contents',
  column: 'sealed',
  rowId: generationId,
  workspaceId,
})

/** The table of logged contents: sealing, writing, opening. */
export interface ContentStore {
  seal(content: EndedContent): Promise<ContentRow>
  /** All of them or none. */
  write(rows: readonly ContentRow[]): Promise<void>
  /** Null: this workspace has no such content, or it has expired. */
  find(generationId: string, workspaceId: string): Promise<GenerationContent | null>
}

export function createContentStore({ bodies, sealer, now, retentionMs }: ContentStoreDeps): ContentStore {
  return {
    async seal({ generationId, workspaceId, content }) {
      const { bytes, clearBytes } = await pack(await jsonInSteps(await content()))
      const at = now()
      return {
        generation_id: generationId,
        workspace_id: workspaceId,
        created_at: new Date(at),
        expires_at: new Date(at + retentionMs),
        clear_bytes: clearBytes,
        sealed: sealer.sealBytes(bytes, placeOf(generationId, workspaceId)),
      }
    },
    write: (rows) => atomically(bodies, (tx) => [tx.insert(loggedContents).values([...rows])]),
    async find(generationId, workspaceId) {
      const rows = await bodies.db
        .select({ sealed: loggedContents.sealed })
        .from(loggedContents)
        .where(
          and(
            eq(loggedContents.generation_id, generationId),
            eq(loggedContents.workspace_id, workspaceId),
            gt(loggedContents.expires_at, new Date(now())),
          ),
        )
      const row = rows[0]
      if (row === undefined) return null
      const content: GenerationContent = JSON.parse(
        await unpack(sealer.openBytes(row.sealed, placeOf(generationId, workspaceId))),
      )
      return content
    },
  }
}
