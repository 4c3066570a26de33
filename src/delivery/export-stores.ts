import type { Database } from '../db/database.ts'
import type { Sealer } from '../db/seal.ts'
import type { ExportRecord } from '../exporters/record.ts'
import type { ReadRows } from './recent-rows.ts'

/** What records are read from; the files may be open for reading only. */
export interface ExportStores {
  readonly ledger: Database
  readonly bodies: Database
  readonly readRows: ReadRows
  readonly sealer: Sealer
  /** Milliseconds since 1970; absent: of the system's clock. */
  now?(): number
}

/**
 * A record; null: the destination does not take this generation; `later`: its content is about to be written, so ask again
 * soon; `gone`: the ledger no longer has its row.
 */
export type Outcome = ExportRecord | null | 'later' | 'gone'
