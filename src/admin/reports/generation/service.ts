import type { Caller } from '../../../core/caller.ts'
import { type GatewayError, notFound } from '../../../core/errors.ts'
import type { ContentLog, GenerationContent } from '../../../core/generation-content.ts'
import { generationIdOf, newUuid } from '../../../core/ids.ts'
import type { Snapshot, WorkspaceRecord } from '../../../core/snapshot.ts'
import { atomically, type Database } from '../../../db/database.ts'
import { generationFeedback } from '../../../db/tables.ts'
import { findGeneration, findSteps, unsettledRow } from '../../../ledger/generations.ts'
import { isBeforeAll } from '../../../ledger/prune.ts'
import { formatRetention, type Retention } from '../../../ledger/retention.ts'
import type { GenerationRow } from '../../../ledger/row.ts'
import { type FeedbackBody, type Generation, generationView } from './schema.ts'

export interface GenerationDeps {
  database: Database
  retention: Retention
}

/**
 * By the generation's id or a reply's (`resp_…`, `msg_…`). An inference key sees its own workspace: a generation of another
 * one is a 404, as an unknown id is.
 */
export async function getGeneration(deps: GenerationDeps, caller: Caller, id: string): Promise<Generation> {
  const { db } = deps.database
  const generationId = generationIdOf(id)
  const steps = await findSteps(db, generationId, workspaceOf(caller))
  const row = await findGeneration(db, generationId, workspaceOf(caller))
  if (row !== undefined) return generationView(row, steps)
  const [first] = steps
  if (first === undefined) throw unknown(deps, generationId)
  return generationView(unsettledRow(generationId, first), steps)
}

export interface ContentDeps extends GenerationDeps {
  contents: Pick<ContentLog, 'find'>
  snapshot: { current(): Snapshot }
}

/**
 * The logged prompt and completion of a generation. The 404 without them names the reason, but a generation of another
 * workspace gets the same 404 as one that never existed.
 */
export async function getContent(deps: ContentDeps, caller: Caller, id: string): Promise<GenerationContent> {
  const generation = await visible(deps, caller, id)
  const workspace = deps.snapshot.current().workspacesById.get(generation.workspace_id)
  // The next sweep deletes the contents of a deleted workspace; until then they are not shown.
  const content = workspace && (await deps.contents.find(generation.id, workspace.id))
  if (content) return content
  throw notFound(
    `The generation is known, but its content was not logged: ${whyNot(workspace)}. A stored response is read with GET /responses/{id}`,
  )
}

function whyNot(workspace: WorkspaceRecord | undefined): string {
  if (workspace === undefined) return 'its workspace is deleted'
  if (workspace.contentLogging === undefined)
    return 'its workspace logs no prompts and answers (is_observability_io_logging_enabled of PATCH /workspaces/{id} turns that on, for requests from then on)'
  return 'its workspace logs contents, but not this one: it is older than the setting or the retention, its key (io_logging_api_key_ids) or the generation itself (io_logging_sampling_rate) is not selected, or there was no room for it'
}

/** What a caller says of an answer, kept beside it. The row says by which key, so that the audit log need not. */
export async function giveFeedback(
  deps: GenerationDeps & { now(): number },
  caller: Caller,
  { generation_id: id, category, comment = null }: FeedbackBody,
): Promise<void> {
  const { database, now } = deps
  const generation = await visible(deps, caller, id)
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

async function visible(deps: GenerationDeps, caller: Caller, id: string): Promise<GenerationRow> {
  const generationId = generationIdOf(id)
  const row = await findGeneration(deps.database.db, generationId, workspaceOf(caller))
  if (row === undefined) throw unknown(deps, generationId)
  return row
}

/** Whose generations a caller sees; null: all. */
const workspaceOf = ({ key, workspace }: Caller): string | null =>
  key.kind === 'management' ? null : workspace.id

const unknown = (deps: GenerationDeps, id: string): GatewayError =>
  notFound(`There is no generation with this id${whyGone(deps, id)}`)

/** An id contains its time: a generation older than every stored row may have been pruned. */
function whyGone({ database, retention }: GenerationDeps, id: string): string {
  const kept = formatRetention(retention)
  if (kept === null || !/^gen-[0-9a-f]{32}$/.test(id) || !isBeforeAll(database, id)) return ''
  return `: it is older than every stored record. Records are kept ${kept}; sums of usage and cost are kept forever`
}
