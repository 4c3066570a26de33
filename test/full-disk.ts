import { expect } from 'bun:test'
import type { Database } from '../src/db/database.ts'

/** Nothing more fits into the file, not even in its free room. */
export function fill({ file }: Database): void {
  file.run('CREATE TABLE filler (content BLOB)')
  const pages = file.query<{ page_count: number }, []>('PRAGMA page_count').get()?.page_count ?? 0
  file.run(`PRAGMA max_page_count = ${pages + 8}`)
  for (let size = 4096; size >= 1; size = Math.floor(size / 2)) {
    try {
      for (;;) file.run('INSERT INTO filler VALUES (zeroblob(?))', [size])
    } catch (error) {
      expect(error).toMatchObject({ code: 'SQLITE_FULL' })
    }
  }
}

export const makeRoom = ({ file }: Database): void => {
  file.run('PRAGMA max_page_count = 1000000')
  file.run('DROP TABLE filler')
}
