import type { JsonObject } from './events.ts'

/**
 * Items of answers that were not stored, for clients that refer to them by id all the same. Kept for a short time and
 * for one workspace.
 */
export interface RememberedItems {
  /** Only leaves a reference: the items are sealed and written later. */
  add(workspaceId: string, items: readonly JsonObject[]): void
  /** Null: this workspace has no such item, or it has expired. */
  find(id: string, workspaceId: string): Promise<JsonObject | null>
  /** Writes what waits. */
  close(): Promise<void>
}
