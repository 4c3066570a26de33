import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createResponseStore } from '../../src/bodies/responses.ts'
import type { ResponseStore, StoredResponse } from '../../src/core/stored-response.ts'
import { BODIES_FILE, type Database, openBodies } from '../../src/db/database.ts'
import { BODIES_MIGRATIONS, migrate } from '../../src/db/migrations.ts'
import { makeSealer } from '../../src/db/seal.ts'

export const DAY_MS = 24 * 3_600_000
export const START = Date.UTC(2030, 0, 1)

export interface Store {
  folder: string
  path: string
  bodies: Database
  store: ResponseStore
  /** The clock: moved by the tests. */
  at: number
  /** The same file with another secret key. */
  withKey(fill: number): ResponseStore
  stop(): void
}

/** A store on a file of its own. */
export function startStore(): Store {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bodies-'))
  const path = join(folder, BODIES_FILE)
  const bodies = openBodies(path)
  migrate(bodies, BODIES_MIGRATIONS)
  const now = () => started.at
  const withKey = (fill: number) =>
    createResponseStore({ bodies, sealer: makeSealer(new Uint8Array(32).fill(fill)), now })
  const started: Store = {
    folder,
    path,
    bodies,
    store: withKey(1),
    at: START,
    withKey,
    stop() {
      bodies.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return started
}

export const response = (digits: string, more: Partial<StoredResponse> = {}): StoredResponse => ({
  id: `resp_${digits}`,
  workspaceId: 'workspace-a',
  keyHash: 'hash',
  generationId: `gen-${digits}`,
  status: 'completed',
  model: 'lab/tiny',
  previousResponseId: null,
  background: false,
  streamed: false,
  createdAt: START,
  expiresAt: START + 30 * DAY_MS,
  ...more,
})

const NO_IDS: readonly string[] = []

export const turnOf = (text: string) => ({
  reply: { object: 'response', output: [{ type: 'message', content: text }] },
  input: [{ type: 'message', role: 'user', content: text }],
  itemIds: NO_IDS,
})
