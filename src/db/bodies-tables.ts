/**
 * The tables of `bodies.db`: encrypted contents of requests and replies, in a separate file, so that the ledger stays
 * small and its commits do not wait for bodies. After a change: `bun run migrations NAME`, and commit its files.
 */
import type { ResponseStatus } from '../core/response-status.ts'
import { boolean, bytes, index, integer, primaryKey, table, text, timestamp, word } from './columns.ts'

/** Stored responses without their contents: see `responseParts`. */
export const responses = table(
  'responses',
  {
    /** `resp_…` with the digits of its generation. */
    id: text().primaryKey(),
    workspace_id: text().notNull(),
    /** The key that made it. */
    key_hash: text().notNull(),
    generation_id: text().notNull(),
    status: word<ResponseStatus>().notNull(),
    model: text().notNull(),
    previous_response_id: text(),
    /** It runs, or ran, without its caller's connection. */
    background: boolean().notNull(),
    /** Its events are kept, so that it can be streamed again. */
    streamed: boolean().notNull(),
    created_at: timestamp().notNull(),
    expires_at: timestamp().notNull(),
  },
  (t) => [
    index('responses_expiry').on(t.expires_at),
    // Few rows are of a status that is not final: a start looks for those.
    index('responses_status').on(t.status),
  ],
)

/** Prompts and completions of generations in workspaces that log them. */
export const loggedContents = table(
  'logged_contents',
  {
    /** Later ones sort after earlier ones: the oldest are found by it. */
    generation_id: text().primaryKey(),
    workspace_id: text().notNull(),
    created_at: timestamp().notNull(),
    expires_at: timestamp().notNull(),
    /** Length in clear, before it was compressed. */
    clear_bytes: integer().notNull(),
    sealed: bytes().notNull(),
  },
  (t) => [
    index('logged_contents_expiry').on(t.expires_at),
    // A deleted workspace's are found by it.
    index('logged_contents_workspace').on(t.workspace_id),
  ],
)

/** Contents of generations that wait for destinations of observability. */
export const exportContents = table('export_contents', {
  /** Later ones sort after earlier ones: old ones are found by it. */
  generation_id: text().primaryKey(),
  workspace_id: text().notNull(),
  /** Null: there was no room for it. */
  sealed: bytes(),
})

/** `reply`: the Response object. `input`: the caller's items of this turn. `events`: a stretch of the stream. */
export type ResponsePart = 'reply' | 'input' | 'events'

export const responseParts = table(
  'response_parts',
  {
    response_id: text()
      .notNull()
      .references(() => responses.id, { onDelete: 'cascade' }),
    part: word<ResponsePart>().notNull(),
    /** Sequence number of the first event; 0 for what has no order. */
    first: integer().notNull(),
    /** Sequence number of the last event. */
    last: integer().notNull(),
    /** Length in clear, before it was compressed. */
    clear_bytes: integer().notNull(),
    sealed: bytes().notNull(),
  },
  (t) => [primaryKey({ columns: [t.response_id, t.part, t.first] })],
)

/** Items of answers that were not stored, for an hour or so. */
export const rememberedItems = table(
  'remembered_items',
  {
    /** `<workspace id>/<item id>` */
    id: text().primaryKey(),
    workspace_id: text().notNull(),
    expires_at: timestamp().notNull(),
    sealed: bytes().notNull(),
  },
  (t) => [
    index('remembered_items_expiry').on(t.expires_at),
    // A deleted workspace's are found by it.
    index('remembered_items_workspace').on(t.workspace_id),
  ],
)

/** Finds an item that a later request references by its id. */
export const responseItems = table(
  'response_items',
  {
    workspace_id: text().notNull(),
    item_id: text().notNull(),
    response_id: text()
      .notNull()
      .references(() => responses.id, { onDelete: 'cascade' }),
  },
  (t) => [
    primaryKey({ columns: [t.workspace_id, t.item_id, t.response_id] }),
    index('response_items_response').on(t.response_id),
  ],
)
