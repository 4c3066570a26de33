import type { ContentFilter } from '../../core/content-filter.ts'
import type { JsonObject } from '../../core/events.ts'
import type { GuardrailRecord } from '../../core/guardrail.ts'
import type { Refusal } from '../../core/refusal.ts'

/** The findings of guardrails' filters in one request or reply: names and counts, never the matched text. */
export interface FilterReport {
  /** `redacted`: the number of replaced places. */
  add(guardrail: GuardrailRecord, filter: ContentFilter, redacted: number): void
  /** The text was blocked because searching it exceeded the budget. */
  overBudget(): void
  /** Filters that only flag exceeded their budget and stopped; the remainder was not searched. */
  unfinished(): void
  readonly blocking: readonly ContentFilter[]
  /** For the error of a request or reply that is blocked. */
  refusal(): Refusal
  /** The findings for the routing metadata; empty if nothing matched. */
  stages(): JsonObject[]
}

interface Row {
  guardrail: GuardrailRecord
  filter: ContentFilter
  redacted: number
}

const INJECTION = 'regex-prompt-injection'
const SCOPES = { key: 'api-key', member: 'member', workspace: 'workspace' } as const

/** `output`: the findings are of the reply. */
export function createReport(of: 'input' | 'output' = 'input'): FilterReport {
  const rows = new Map<ContentFilter, Row>()
  const side: JsonObject = of === 'output' ? { apply_to: of } : {}
  const limits = new Set<string>()
  return {
    overBudget() {
      limits.add('blocked: searching it would take too long')
    },
    unfinished() {
      limits.add('flag filters stopped before the end: searching all of it would take too long')
    },
    add(guardrail, filter, redacted) {
      const row = rows.get(filter)
      if (row === undefined) rows.set(filter, { guardrail, filter, redacted })
      else row.redacted += redacted
    },
    get blocking() {
      return [...rows.values()].map(({ filter }) => filter).filter(({ action }) => action === 'block')
    },
    refusal() {
      const all = [...rows.values()]
      return {
        reason: 'filter',
        guardrail: all.find(({ filter }) => filter.action === 'block')?.guardrail.name,
        filters: of === 'output' ? [] : all.map(({ filter: { name, action } }) => ({ name, action })),
      }
    },
    stages() {
      const stages = new Map<string, Row[]>()
      for (const row of rows.values()) {
        const name = row.filter.slug === INJECTION ? 'regex_pi_detection' : 'content-filter'
        const key = `${name}/${row.guardrail.id}/${row.guardrail.scope}`
        stages.set(key, [...(stages.get(key) ?? []), row])
      }
      const parts = [...stages].map(([key, own]) => stageOf(key.split('/')[0] ?? '', own, side))
      return [...parts, ...[...limits].map((summary) => limitStage(summary, side))]
    },
  }
}

const limitStage = (summary: string, side: JsonObject): JsonObject => ({
  type: 'guardrail',
  name: 'content-filter',
  summary,
  data: { filters: [], ...side },
})

function stageOf(name: string, rows: readonly Row[], side: JsonObject): JsonObject {
  const guardrail = rows[0]?.guardrail
  return {
    type: 'guardrail',
    name,
    ...(guardrail && { guardrail_id: guardrail.id, guardrail_scope: SCOPES[guardrail.scope] }),
    summary: rows.map(sentenceOf).join('; '),
    data: {
      filters: rows.map(({ filter, redacted }) => ({
        name: filter.name,
        action: filter.action,
        ...(filter.action === 'redact' && { count: redacted }),
      })),
      ...side,
    },
  }
}

function sentenceOf({ filter: { action, name }, redacted }: Row): string {
  if (action === 'redact') return `${name} redacted ${redacted === 1 ? 'once' : `${redacted} times`}`
  return action === 'block' ? `${name} blocked` : `${name} flagged`
}
