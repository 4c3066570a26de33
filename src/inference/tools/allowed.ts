import type { Caller } from '../../core/caller.ts'
import { forbidden } from '../../core/errors.ts'
import { isString } from '../../core/json.ts'
import type { Refusal } from '../../core/refusal.ts'
import type { Tool } from '../../core/request.ts'
import type { WorkspaceRecord } from '../../core/snapshot.ts'

export const PREFIX = /^(?:openrouter|sluice):/

export const typeOf = (tool: Tool): string =>
  tool.type === 'other' && isString(tool.data['type']) ? tool.data['type'] : ''

/** The name of a tool without prefix, date and stage: `web_search_20250305` is disabled with `web_search`. */
const plainName = (type: string): string =>
  type.replace(PREFIX, '').replace(/(?:_preview)?(?:_\d{4}_?\d{2}_?\d{2})?$/, '')

export function checkAllowed(tools: readonly Tool[], { workspace, key: { guardrails = [] } }: Caller): void {
  const types = tools.map(typeOf).filter((type) => type !== '')
  checkRules(types, workspace, 'The workspace', {
    reason: 'guardrail',
    gate: 'workspace',
  })
  for (const guardrail of guardrails)
    checkRules(types, guardrail, `The guardrail "${guardrail.name}"`, {
      reason: 'guardrail',
      guardrail: guardrail.name,
    })
}

function checkRules(
  types: readonly string[],
  { disabledServerTools = [] }: Pick<WorkspaceRecord, 'disabledServerTools'>,
  owner: string,
  refusal: Refusal,
): void {
  const disabled = new Set(disabledServerTools.map(plainName))
  const named = types.find((type) => disabled.has(plainName(type)))
  if (named !== undefined)
    throw forbidden(`${owner} has disabled the server tool ${JSON.stringify(named.slice(0, 60))}`, refusal)
}
