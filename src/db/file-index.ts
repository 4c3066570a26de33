/** The words of the uploaded files of one workspace (SQLite FTS5), for a thread of its own: it waits, and is synchronous. */
import { openDerived, type SqliteFile } from './database.ts'
import { type FileVectors, type FoundText, vectorsIn } from './file-vectors.ts'

export interface FileIndex extends FileVectors {
  /** Those of these files that the index does not know. */
  unknown(ids: readonly string[]): string[]
  /** Replaces what is known of a file. Each passage has its text, and the same prepared for the index. */
  add(id: string, passages: readonly IndexedText[]): void
  /** Notes why a file has no text. */
  refuse(id: string, reason: string): void
  /** Best first. `match` is an expression of FTS5. */
  search(match: string, ids: readonly string[], most: number): FoundText[]
  refusals(ids: readonly string[]): Refused[]
  /** Deletes every trace of these files. `wordsOf` prepares a text as it was for `add`. */
  remove(ids: readonly string[], wordsOf: (text: string) => string): void
  /** The ids that the index knows. */
  ids(): string[]
  close(): void
}

interface IndexedText {
  readonly text: string
  readonly words: string
}

export interface Refused {
  readonly fileId: string
  readonly reason: string
}

/** Raise it when the tables change: an index of another version is made again. */
const VERSION = 2

const TABLES = `
CREATE TABLE files (id TEXT PRIMARY KEY, reason TEXT) WITHOUT ROWID;
CREATE TABLE passages (id INTEGER PRIMARY KEY, file_id TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX passages_file ON passages (file_id);
CREATE TABLE vectors (passage_id INTEGER PRIMARY KEY, model TEXT NOT NULL, vector BLOB NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (text, content='', tokenize='porter unicode61 remove_diacritics 2');
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
PRAGMA user_version = ${VERSION};
`

export function openFileIndex(path: string): FileIndex {
  const file = openDerived(path)
  prepare(file)
  const ofFile = file.query<{ id: number; text: string }, [string]>(
    'SELECT id, text FROM passages WHERE file_id = ?',
  )
  const forget = file.query('DELETE FROM files WHERE id = ?')
  const dropWords = file.query("INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)")
  return {
    unknown: (ids) =>
      file
        .query<{ id: string }, [string]>(
          'SELECT value AS id FROM json_each(?) WHERE value NOT IN (SELECT id FROM files)',
        )
        .all(JSON.stringify(ids))
        .map(({ id }) => id),
    add(id, passages) {
      const addText = file.query<{ id: number }, [string, string]>(
        'INSERT INTO passages (file_id, text) VALUES (?, ?) RETURNING id',
      )
      const addWords = file.query('INSERT INTO words (rowid, text) VALUES (?, ?)')
      file
        .transaction(() => {
          const isNew = file.query('INSERT OR IGNORE INTO files (id) VALUES (?)').run(id).changes > 0
          for (const { text, words } of isNew ? passages : []) {
            const row = addText.get(id, text)
            if (row !== null) addWords.run(row.id, words)
          }
        })
        .immediate()
    },
    refuse(id, reason) {
      file.query('INSERT OR IGNORE INTO files (id, reason) VALUES (?, ?)').run(id, reason)
    },
    search: (match, ids, most) =>
      file
        .query<FoundText, [string, string, number]>(
          `SELECT p.file_id AS fileId, p.text AS text, bm25(words) AS rank
           FROM words JOIN passages p ON p.id = words.rowid
           WHERE words MATCH ? AND p.file_id IN (SELECT value FROM json_each(?))
           ORDER BY rank LIMIT ?`,
        )
        .all(match, JSON.stringify(ids), most),
    ...vectorsIn(file),
    refusals: (ids) =>
      file
        .query<Refused, [string]>(
          'SELECT id AS fileId, reason FROM files WHERE reason IS NOT NULL AND id IN (SELECT value FROM json_each(?))',
        )
        .all(JSON.stringify(ids)),
    remove(ids, wordsOf) {
      file
        .transaction(() => {
          for (const id of ids) {
            for (const { id: rowid, text } of ofFile.all(id)) dropWords.run(rowid, wordsOf(text))
            file
              .query('DELETE FROM vectors WHERE passage_id IN (SELECT id FROM passages WHERE file_id = ?)')
              .run(id)
            file.query('DELETE FROM passages WHERE file_id = ?').run(id)
            forget.run(id)
          }
        })
        .immediate()
      file.run('PRAGMA wal_checkpoint(TRUNCATE)')
    },
    ids: () =>
      file
        .query<{ id: string }, []>('SELECT id FROM files')
        .all()
        .map(({ id }) => id),
    close: () => file.close(),
  }
}

/** Makes the tables, in a transaction: two threads may open a new file at once. */
function prepare(file: SqliteFile): void {
  const version = () => file.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version
  if (version() === VERSION) return
  file
    .transaction(() => {
      if (version() === VERSION) return
      for (const table of ['words', 'vectors', 'passages', 'files']) file.run(`DROP TABLE IF EXISTS ${table}`)
      file.run(TABLES)
    })
    .immediate()
}
