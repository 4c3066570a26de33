/** Guardrails that tests make. */
import { expect } from 'bun:test'
import type { Administration } from './administration.ts'
import { dataOf } from './people.ts'

export async function makeGuardrail({ manage }: Administration, fields: object = {}): Promise<string> {
  const reply = await manage('POST', '/guardrails', { name: 'made', ...fields })
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)])
  return String(dataOf(reply)['id'])
}
