import { createContentStore } from '../bodies/contents.ts'
import { readExportContents } from '../bodies/export-contents.ts'
import type { ExportedContent } from '../core/generation-content.ts'
import { jsonText } from '../exporters/json-text.ts'
import { withoutMedia } from '../exporters/media.ts'
import type { ExportContent, ExportRecord } from '../exporters/record.ts'
import type { ExportStores, Outcome } from './export-stores.ts'
import type { OutboxEntry } from './outbox-reader.ts'

/** Contents are written behind the answer: one that is not there after this time never will be. */
const LATEST_MS = 5_000

type Found = ExportedContent | 'full' | 'unreadable' | 'expired'

/**
 * The records with their contents, each as it is stored for destinations. A generation that is read from the ledger again
 * has the content that the content log still has.
 */
export async function withContents(
  drafts: readonly Outcome[],
  entries: readonly OutboxEntry[],
  stores: ExportStores,
): Promise<Outcome[]> {
  const { now = Date.now } = stores
  const ids = entries.filter(({ note }, at) => isRecord(drafts[at]) && note?.content === true)
  const stored =
    ids.length === 0
      ? new Map<string, Found>()
      : await readExportContents(
          stores.bodies,
          stores.sealer,
          ids.map(({ generationId }) => generationId),
        )
  const outcomes: Outcome[] = []
  for (const [at, entry] of entries.entries()) {
    const draft = drafts[at]
    if (!isRecord(draft)) outcomes.push(draft ?? null)
    else if (entry.note === null) outcomes.push(filled(draft, await loggedContent(entry, stores)))
    else if (entry.note.content !== true)
      outcomes.push(draft.apiType === 'tool' ? draft : filled(draft, 'expired'))
    else {
      const found = stored.get(entry.generationId)
      const isLate = found === undefined && now() - entry.committedAt < LATEST_MS
      outcomes.push(isLate ? 'later' : filled(draft, found ?? 'unreadable'))
    }
  }
  return outcomes
}

const isRecord = (outcome: Outcome | undefined): outcome is ExportRecord =>
  typeof outcome === 'object' && outcome !== null

function filled(record: ExportRecord, found: Found): ExportRecord {
  if (typeof found === 'string') return { ...record, contentMissing: found }
  const { input, output, tools, error } = found
  const content: ExportContent = { input, output, tools }
  return { ...record, content, error: record.error && { ...record.error, message: error } }
}

async function loggedContent(
  { generationId, workspaceId }: OutboxEntry,
  { bodies, sealer, now = Date.now }: ExportStores,
): Promise<Found> {
  try {
    const store = createContentStore({ bodies, sealer, now, retentionMs: 0 })
    const logged = await store.find(generationId, workspaceId)
    if (logged === null) return 'expired'
    const { input, output, error } = logged
    return {
      input: 'prompt' in input ? input : { messages: input.messages.map(withoutMedia) },
      output: { ...output, completion: withoutMediaText(output.completion) },
      tools: null,
      error: error?.message ?? null,
    }
  } catch {
    return 'unreadable'
  }
}

/** A completion that is not one text is logged as JSON. */
function withoutMediaText(completion: string | null): string | null {
  if (completion === null || !/^[[{]/.test(completion)) return completion
  try {
    return jsonText(withoutMedia(JSON.parse(completion)))
  } catch {
    return completion
  }
}
