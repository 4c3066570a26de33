import { hashKey, labelOf } from '../../src/core/keys.ts'
import type { KeyRecord, Snapshot } from '../../src/core/snapshot.ts'
import { key as fixtureKey, workspace as fixtureWorkspace } from '../inference/fixture.ts'

export const workspace = fixtureWorkspace({ id: '0190a000-0000-7000-8000-000000000001' })

export const keyRecordOf = (key: string, record: Partial<KeyRecord> = {}): KeyRecord =>
  fixtureKey({ hash: hashKey(key), label: labelOf(key), workspaceId: workspace.id, ...record })

/** A Snapshot without models: who may call, and nothing to call. */
export const snapshotOf = (keys: readonly KeyRecord[]): Snapshot => ({
  version: 1,
  organizationId: 'org_1',
  defaultWorkspaceId: workspace.id,
  keysByHash: new Map(keys.map((key) => [key.hash, key])),
  workspacesById: new Map([[workspace.id, workspace]]),
  presets: new Map(),
  providersBySlug: new Map(),
  models: { find: () => undefined, isKnown: () => false, nearest: () => [], list: () => [] },
})
