import type { Settlement } from '../../src/core/generation.ts'
import { newGenerationId } from '../../src/core/ids.ts'
import { hashKey, labelOf, newKey } from '../../src/core/keys.ts'
import { atomically } from '../../src/db/database.ts'
import { apiKeys, workspaces } from '../../src/db/tables.ts'
import type { Gateway } from '../gateway.ts'
import { settlementOf } from '../ledger/fixture.ts'

export const OTHER_WORKSPACE = '0190a000-0000-7000-8000-00000000beef'

/** A second workspace, with an inference key of its own. */
export async function addWorkspace({ database, deps }: Gateway): Promise<{ key: string }> {
  const [owner] = await database.db.select().from(workspaces)
  if (!owner) throw new Error('there is no default workspace')
  const key = newKey('inference')
  await atomically(database, (tx) => [
    tx.insert(workspaces).values({
      is_observability_broadcast_enabled: true,
      id: OTHER_WORKSPACE,
      organization_id: owner.organization_id,
      name: 'Other',
      slug: 'other',
      default_guardrail_id: crypto.randomUUID(),
      created_by: owner.created_by,
    }),
    tx.insert(apiKeys).values({
      hash: hashKey(key),
      id: 1000,
      kind: 'inference',
      name: 'of the other workspace',
      label: labelOf(key),
      creator_user_id: owner.created_by,
      created_at: new Date(deps.now()),
      workspace_id: OTHER_WORKSPACE,
    }),
  ])
  deps.snapshot.applyChanges()
  return { key }
}

/** Books one generation to a key, as an inference would; answers its id. */
export async function spend(
  { deps }: Gateway,
  keyHash: string,
  costNanoUsd: number,
  over: Partial<Settlement> = {},
): Promise<string> {
  const key = deps.snapshot.current().keysByHash.get(keyHash)
  if (!key) throw new Error('there is no such key')
  const startedAt = over.startedAt ?? deps.now()
  const settlement = settlementOf({
    generationId: newGenerationId(),
    keyHash,
    workspaceId: key.workspaceId,
    costNanoUsd,
    startedAt,
    endedAt: startedAt + 1000,
    ...over,
  })
  const { generationId } = settlement
  const hold = deps.ledger.reserve({ generationId, gates: [], amountNanoUsd: costNanoUsd, startedAt })
  await deps.ledger.settle(hold, settlement)
  return generationId
}
