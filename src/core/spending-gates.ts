import { type Gate, intervalOf } from './gate.ts'
import { type GuardrailRecord, gatesOfGuardrails } from './guardrail.ts'
import type { KeyRecord, WorkspaceRecord } from './snapshot.ts'

/** Every bound on a key's spending: its own limit, the budgets of workspace and guardrails, the allowance. */
export function spendingGatesOf(
  key: KeyRecord,
  workspace: WorkspaceRecord,
  guardrails: readonly GuardrailRecord[] | undefined = key.guardrails,
): readonly Gate[] {
  const gates: Gate[] = []
  if (key.limitNanoUsd !== null) {
    gates.push({
      scope: 'key',
      id: key.hash,
      label: 'This key',
      name: key.name,
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
      name: workspace.slug,
      interval,
      limitNanoUsd,
      includeByok,
      status: 403,
    })
  }
  if (guardrails !== undefined) gates.push(...gatesOfGuardrails({ ...key, guardrails }))
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
  return Object.freeze(gates)
}
