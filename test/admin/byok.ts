/** BYOK keys that tests store. */
import { expect } from 'bun:test'
import type { Administration } from './administration.ts'
import { dataOf } from './people.ts'

export const SECRET = 'sk-proj-Canary-0123456789-Zebra'

export async function storeByok({ manage }: Administration, fields: object = {}): Promise<string> {
  const reply = await manage('POST', '/byok', { provider: 'openai', key: SECRET, ...fields })
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)])
  return String(dataOf(reply)['id'])
}
