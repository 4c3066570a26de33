import type { AuditEntry } from './schema.ts'

const COLUMNS = [
  'id',
  'created_at',
  'workspace_id',
  'actor_type',
  'actor_id',
  'actor_label',
  'action',
  'resource_type',
  'resource_id',
  'request_id',
  'address',
  'user_agent',
  'before',
  'after',
] as const

/** Entries as lines of JSON, or as CSV (RFC 4180) with a header. */
export async function* exportLines(
  slices: AsyncIterable<AuditEntry[]>,
  format: 'ndjson' | 'csv',
): AsyncGenerator<string> {
  if (format === 'csv') yield `${COLUMNS.join(',')}\r\n`
  for await (const entries of slices) {
    yield entries.map(format === 'csv' ? csvLine : (entry) => `${JSON.stringify(entry)}\n`).join('')
  }
}

function csvLine({ actor, resource, before, after, ...entry }: AuditEntry): string {
  const flat: Record<(typeof COLUMNS)[number], string | null> = {
    ...entry,
    actor_type: actor.type,
    actor_id: actor.id,
    actor_label: actor.label,
    resource_type: resource.type,
    resource_id: resource.id,
    before: before === null ? null : JSON.stringify(before),
    after: after === null ? null : JSON.stringify(after),
  }
  return `${COLUMNS.map((name) => csvCell(flat[name] ?? '')).join(',')}\r\n`
}

/** A cell that a spreadsheet would take for a formula begins with an apostrophe (OWASP, CSV injection). */
export function csvCell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
