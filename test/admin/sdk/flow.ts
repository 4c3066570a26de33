/** A flow through the public SDK, and what flows share. */
import { expect } from 'bun:test'
import type { OpenRouter } from '@openrouter/sdk'
import { API_KEY, type Gateway, MANAGEMENT_KEY } from '../../gateway.ts'
import { unknownIn } from './recorder.ts'

export interface Flow {
  name: string
  key: () => string
  /** Every function that the flow calls, and no other. */
  covers: string
  run(sdk: OpenRouter, gateway: Gateway): Promise<void>
}
export const management = () => MANAGEMENT_KEY
export const inference = () => API_KEY

export const USER = 'user_of_the_sdk'
export const MESSAGES = [{ role: 'user' as const, content: 'How is the tide?' }]
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** All pages of a list, as the SDK fetches them. */
export async function pagesOf<Page>(pages: Promise<AsyncIterable<Page>>): Promise<Page[]> {
  const seen: Page[] = []
  for await (const page of await pages) seen.push(known(page))
  return seen
}

/** The same value, without a shape that the SDK does not know. */
export function known<T>(value: T): T {
  expect(unknownIn(value)).toEqual([])
  return value
}
