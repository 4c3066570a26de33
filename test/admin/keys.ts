/** Keys that tests make and read through administration. */
import { objectOf } from '../../src/http/json.ts'
import type { Administration } from './administration.ts'
import { dataOf } from './people.ts'

export interface MadeKey {
  key: string
  hash: string
  data: Record<string, unknown>
}

export async function makeKey({ manage }: Administration, fields: object = {}): Promise<MadeKey> {
  const { json, text } = await manage('POST', '/keys', { name: 'made', ...fields })
  const { key, data } = objectOf(json)
  const record = objectOf(data)
  if (typeof key !== 'string' || typeof record['hash'] !== 'string') throw new Error(text)
  return { key, hash: record['hash'], data: record }
}

export const readKey = async ({ manage }: Administration, hash: string): Promise<Record<string, unknown>> =>
  dataOf(await manage('GET', `/keys/${hash}`))
