import type { Caller } from '../../core/caller.ts'
import { type Gate, intervalOf } from '../../core/gate.ts'
import { gatesOfGuardrails } from '../../core/guardrail.ts'
import type { KeyRecord, WorkspaceRecord } from '../../core/snapshot.ts'

/** By the key as one snapshot has it, with the workspace of the same. */
const keptGates = new WeakMap<KeyRecord, { workspace: WorkspaceRecord; gates: readonly Gate[] }>()

/** Made once for each key of a snapshot: the ledger knows the list again when the key asks again. */
export function gatesOf({ key, workspace }: Caller): readonly Gate[] {
  const kept = keptGates.get(key)
  if (kept !== undefined && kept.workspace === workspace) return kept.gates
  const gates = Object.freeze(makeGates(key, workspace))
  keptGates.set(key, { workspace, gates })
  return gates
}

/** Every bound on this caller's spending: the key's limit, the budgets of workspace and guardrails, the allowance. */
function makeGates(key: KeyRecord, workspace: WorkspaceRecord): Gate[] {
  const gates: Gate[] = []
  if (key.limitNanoUsd !== null) {
    gates.push({
      scope: 'key',
      id: key.hash,
      label: 'This key',
      interval: intervalOf(key.limitReset),
      limitNanoUsd: key.limitNanoUsd,
      includeByok: key.includeByokInLimit,
      status: 402,
    })
  }
  for (const { interval, limitNanoUsd, includeByok } of workspace.budgets ?? []) {
    const label = 'The budget of this workspace'
    gates.push({
      scope: 'workspace',
      id: workspace.id,
      label,
      interval,
      limitNanoUsd,
      includeByok,
      status: 403,
    })
  }
  if (key.guardrails !== undefined) gates.push(...gatesOfGuardrails(key))
  if (workspace.allowance !== undefined) {
    const { organizationId, limitNanoUsd } = workspace.allowance
    gates.push({
      scope: 'organization',
      id: organizationId,
      label: 'The allowance of the organization',
      interval: 'lifetime',
      limitNanoUsd,
      status: 402,
    })
  }
  return gates
}
