import type { Caller } from '../../core/caller.ts'
import { notFound } from '../../core/errors.ts'
import { generationIdOf, newUuid } from '../../core/ids.ts'
import { atomically, type Database } from '../../db/database.ts'
import { generationFeedback } from '../../db/tables.ts'
import { findGeneration } from '../../ledger/generations.ts'
import type { GenerationRow } from '../../ledger/row.ts'
import { type FeedbackBody, type Generation, generationView } from './schema.ts'

/**
 * By the generation's id or a reply's (`resp_…`, `msg_…`). An inference key sees its own workspace; another workspace's generation is as unknown as
 * one that never was.
 */
export const getGeneration = async (database: Database, caller: Caller, id: string): Promise<Generation> =>
  generationView(await visible(database, caller, id))

/**
 * Always a 404: what was said is not kept here, so that nobody can read it afterwards. Whose generation is known is told
 * so; another workspace's is as unknown as one that never was.
 */
export async function refuseContent(database: Database, caller: Caller, id: string): Promise<never> {
  await visible(database, caller, id)
  throw notFound(
    'The generation is known, and its content is not: prompts and answers are not logged by this gateway. A stored response is read with GET /responses/{id}',
  )
}

/** What a caller says of an answer, kept beside it. The row says by which key, so that the audit log need not. */
export async function giveFeedback(
  { database, now }: { database: Database; now(): number },
  caller: Caller,
  { generation_id: id, category, comment = null }: FeedbackBody,
): Promise<void> {
  const generation = await visible(database, caller, id)
  await atomically(database, (tx) => [
    tx.insert(generationFeedback).values({
      id: newUuid(),
      generation_id: generation.id,
      workspace_id: generation.workspace_id,
      key_hash: caller.key.hash,
      category,
      comment,
      created_at: new Date(now()),
    }),
  ])
}

async function visible(database: Database, caller: Caller, id: string): Promise<GenerationRow> {
  const workspaceId = caller.key.kind === 'management' ? null : caller.workspace.id
  const row = await findGeneration(database.db, generationIdOf(id), workspaceId)
  if (row === undefined) throw notFound('There is no generation with this id')
  return row
}
