/** Presets that tests make. */
import { expect } from 'bun:test'
import type { Administration } from './administration.ts'
import { dataOf } from './people.ts'

export async function makePreset(
  { manage }: Administration,
  slug: string,
  body: object,
  route = 'chat/completions',
): Promise<Record<string, unknown>> {
  const reply = await manage('POST', `/presets/${slug}/${route}`, body)
  expect([reply.status, reply.text]).toEqual([200, expect.any(String)])
  return dataOf(reply)
}

export const MESSAGES = [{ role: 'user', content: 'Hi' }]
export const HELLO = { messages: MESSAGES }
export const weather = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }
