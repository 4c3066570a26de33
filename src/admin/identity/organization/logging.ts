import type { Actor } from '../../../core/actor.ts'
import { LOG_AREAS, type LogLevels } from '../../../core/log-level.ts'
import { type ChangeDeps, change } from '../../change.ts'
import type { Logging, LoggingBody } from './schema.ts'

export type LoggingDeps = ChangeDeps & { readonly logLevels: LogLevels }

/** The levels of all areas. */
export async function viewLogging({ logLevels }: Pick<LoggingDeps, 'logLevels'>): Promise<Logging> {
  const current = logLevels.current()
  const view: Logging = { usual_level: logLevels.usual, areas: {} }
  for (const area of LOG_AREAS) {
    const { level, until } = current[area]
    view.areas[area] = { level, until: until === null ? null : new Date(until).toISOString() }
  }
  return view
}

/** Changes levels for an hour. They are in memory only; the change is in the audit log. */
export async function changeLogging(deps: LoggingDeps, actor: Actor, body: LoggingBody): Promise<Logging> {
  const current = deps.logLevels.current()
  const before: Record<string, string> = {}
  const after: Record<string, string> = {}
  for (const area of LOG_AREAS) {
    const level = body[area]
    if (level === undefined) continue
    before[area] = current[area].level
    after[area] = level ?? deps.logLevels.usual
  }
  const changed = {
    action: 'organization.change_logging',
    resourceId: deps.snapshot.current().organizationId,
    workspaceId: null,
    before,
    after,
  } as const
  await change(deps, actor, changed, () => [])
  deps.logLevels.set(body)
  return viewLogging(deps)
}
