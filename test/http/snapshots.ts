import { hashKey, labelOf } from '../../src/core/keys.ts'
import type { KeyRecord, Snapshot, WorkspaceRecord } from '../../src/core/snapshot.ts'

export const workspace: WorkspaceRecord = {
  id: '0190a000-0000-7000-8000-000000000001',
  slug: 'default',
  name: 'Default',
  defaultGuardrailId: 'g1',
  defaultTextModel: null,
  defaultProviderSort: null,
}

export const keyRecordOf = (key: string, record: Partial<KeyRecord> = {}): KeyRecord => ({
  hash: hashKey(key),
  id: 1,
  kind: 'inference',
  name: 'test',
  label: labelOf(key),
  disabled: false,
  limitNanoUsd: null,
  limitReset: null,
  includeByokInLimit: false,
  expiresAt: null,
  creatorUserId: 'user_1',
  externalUser: null,
  workspaceId: workspace.id,
  ...record,
})

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
