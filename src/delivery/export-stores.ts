import type { Database } from '../db/database.ts'
import type { FilterRules } from '../db/filter-rules.ts'
import type { Sealer } from '../db/seal.ts'
import type { ExportRecord } from '../exporters/record.ts'
import type { OutboxEntry } from './outbox-reader.ts'
import type { ReadRows } from './recent-rows.ts'
import type { CompiledRules, RuleFacts } from './rules.ts'

/** What records are read from; the files may be open for reading only. */
export interface ExportStores {
  readonly ledger: Database
  readonly bodies: Database
  readonly readRows: ReadRows
  readonly sealer: Sealer
  /** What was made of an entry, by the settings of the destination: others with the same ones share it. */
  readonly drafts: WeakMap<OutboxEntry, Map<string, Draft>>
  readonly rules: WeakMap<FilterRules, CompiledRules>
  /** Milliseconds since 1970; absent: of the system's clock. */
  now?(): number
}

/**
 * A record; null: the destination does not take this generation; `later`: its content is about to be written, so ask again
 * soon; `gone`: the ledger no longer has its row.
 */
export type Outcome = ExportRecord | null | 'later' | 'gone'

/** An outcome without content. `facts` are what rules on the content test; null: there is no record to test. */
export interface Draft {
  readonly outcome: Outcome
  readonly facts: RuleFacts | null
}
