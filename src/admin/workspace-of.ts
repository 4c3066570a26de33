import type { Caller } from '../core/caller.ts'
import { notFound } from '../core/errors.ts'
import type { Snapshot } from '../core/snapshot.ts'

/** The workspace that a request means: the one that it names, else the caller's. An inference key may name its own alone. */
export function workspaceOf(caller: Caller, named: string | undefined, snapshot: Snapshot): string {
  const id = named?.toLowerCase() ?? caller.workspace.id
  const maySee = caller.key.kind === 'management' || id === caller.workspace.id
  if (!maySee || !snapshot.workspacesById.has(id)) throw notFound('There is no workspace with this id')
  return id
}
