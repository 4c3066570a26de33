import type { Caller } from '../../core/caller.ts'
import { notFound } from '../../core/errors.ts'
import { generationIdOf } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import { findGeneration } from '../../ledger/generations.ts'
import { type Generation, generationView } from './schema.ts'

/**
 * By the generation's id or a reply's (`resp_…`, `msg_…`). An inference key sees its own workspace; another workspace's generation is as unknown as
 * one that never was.
 */
export async function getGeneration(database: Database, caller: Caller, id: string): Promise<Generation> {
  const workspaceId = caller.key.kind === 'management' ? null : caller.workspace.id
  const row = await findGeneration(database.db, generationIdOf(id), workspaceId)
  if (row === undefined) throw notFound('There is no generation with this id')
  return generationView(row)
}
