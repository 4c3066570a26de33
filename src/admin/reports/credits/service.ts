import { eq } from 'drizzle-orm'
import type { Actor } from '../../../core/actor.ts'
import { nanoUsdOf, usdOf } from '../../../core/money.ts'
import { organizations } from '../../../db/tables.ts'
import type { Ledger } from '../../../ledger/ledger.ts'
import { type ChangeDeps, change } from '../../change.ts'
import { type Credits, type CreditsBody, creditsView } from './schema.ts'

export interface CreditsDeps extends ChangeDeps {
  ledger: Pick<Ledger, 'organizationUsage'>
}

/** The allowance of the organisation and its spending. */
export async function getCredits(deps: CreditsDeps): Promise<Credits> {
  return creditsView(await allowanceOf(deps), await deps.ledger.organizationUsage())
}

/** Holds for the next request. With an allowance below the present spending no request passes. */
export async function putCredits(
  deps: CreditsDeps,
  actor: Actor,
  { total_credits: total }: CreditsBody,
): Promise<Credits> {
  const { organizationId } = deps.snapshot.current()
  const before = await allowanceOf(deps)
  const after = total === null ? null : nanoUsdOf(total)
  if (before !== after) {
    const changed = {
      action: 'organization.update',
      resourceId: organizationId,
      workspaceId: null,
      before: { total_credits: before === null ? null : usdOf(before) },
      after: { total_credits: total },
    } as const
    await change(deps, actor, changed, (tx) => [
      tx
        .update(organizations)
        .set({ allowance_nano_usd: after, updated_at: new Date(deps.now()) })
        .where(eq(organizations.id, organizationId)),
    ])
  }
  return creditsView(after, await deps.ledger.organizationUsage())
}

async function allowanceOf({ database: { db }, snapshot }: CreditsDeps): Promise<number | null> {
  const [row] = await db
    .select({ allowance: organizations.allowance_nano_usd })
    .from(organizations)
    .where(eq(organizations.id, snapshot.current().organizationId))
  return row?.allowance ?? null
}
