/** The vectors of passages in the index of one workspace's files: 32-bit floats, of one model for each passage. */
import type { SqliteFile } from './database.ts'

export interface FileVectors {
  /** Passages of these files that this model has not embedded, the oldest first. */
  lacking(model: string, ids: readonly string[], most: number): Lacking[]
  /** Keeps the vectors of passages that are still there, each of length 1. */
  embed(model: string, vectors: readonly Embedded[]): void
  /** The passages whose vectors are nearest to this one, which has length 1: nearest first, of at most 20,000. */
  nearest(model: string, vector: Float32Array, ids: readonly string[], most: number): FoundText[]
}

export interface FoundText {
  readonly fileId: string
  readonly text: string
  /** The lower, the better. */
  readonly rank: number
}

export interface Lacking {
  readonly id: number
  readonly text: string
}

export interface Embedded {
  readonly id: number
  readonly vector: Float32Array
}

export const vectorsIn = (file: SqliteFile): FileVectors => ({
  lacking: (model, ids, most) =>
    file
      .query<Lacking, [string, string, number]>(
        `SELECT p.id AS id, p.text AS text FROM passages p
         LEFT JOIN vectors v ON v.passage_id = p.id AND v.model = ?
         WHERE v.passage_id IS NULL AND p.file_id IN (SELECT value FROM json_each(?)) ORDER BY p.id LIMIT ?`,
      )
      .all(model, JSON.stringify(ids), most),
  embed(model, vectors) {
    const put = file.query(
      'INSERT OR REPLACE INTO vectors (passage_id, model, vector) SELECT id, ?, ? FROM passages WHERE id = ?',
    )
    file
      .transaction(() => {
        for (const { id, vector } of vectors)
          put.run(model, new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength), id)
      })
      .immediate()
  },
  nearest: (model, vector, ids, most) => nearestIn(file, model, vector, ids, most),
})

/** Vectors that one search compares. */
const MOST_COMPARED = 20_000

function nearestIn(
  file: SqliteFile,
  model: string,
  vector: Float32Array,
  ids: readonly string[],
  most: number,
): FoundText[] {
  const rows = file
    .query<{ id: number; vector: Uint8Array }, [string, string, number]>(
      `SELECT v.passage_id AS id, v.vector AS vector FROM vectors v JOIN passages p ON p.id = v.passage_id
       WHERE v.model = ? AND p.file_id IN (SELECT value FROM json_each(?)) ORDER BY p.id DESC LIMIT ?`,
    )
    .iterate(model, JSON.stringify(ids), MOST_COMPARED)
  const compared: { id: number; rank: number }[] = []
  for (const { id, vector: bytes } of rows)
    if (bytes.byteLength === vector.byteLength) compared.push({ id, rank: -cosineOf(vector, bytes) })
  const textOf = file.query<{ fileId: string; text: string }, [number]>(
    'SELECT file_id AS fileId, text FROM passages WHERE id = ?',
  )
  return compared
    .sort((left, right) => left.rank - right.rank)
    .slice(0, most)
    .flatMap(({ id, rank }) => {
      const found = textOf.get(id)
      return found === null ? [] : [{ ...found, rank }]
    })
}

/** Of two vectors of length 1. */
function cosineOf(vector: Float32Array, bytes: Uint8Array): number {
  const other =
    bytes.byteOffset % 4 === 0
      ? new Float32Array(bytes.buffer, bytes.byteOffset, vector.length)
      : new Float32Array(bytes.slice().buffer)
  let sum = 0
  for (let i = 0; i < vector.length; i++) sum += (vector[i] ?? 0) * (other[i] ?? 0)
  return sum
}
