import type { guardrails } from '../../../db/tables.ts'

interface Workspace {
  id: string
  default_guardrail_id: string
  created_at: Date
}

/** The guardrail that applies to a workspace. It restricts nothing until it is changed. */
export const defaultGuardrail = (workspace: Workspace): typeof guardrails.$inferInsert => ({
  id: workspace.default_guardrail_id,
  workspace_id: workspace.id,
  name: 'Default',
  created_at: workspace.created_at,
})
