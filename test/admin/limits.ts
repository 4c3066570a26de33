/** A limit of the specification as data: the last values that are accepted, and the first that are rejected. */
import { describe, expect, test } from 'bun:test'
import { API_KEY, MANAGEMENT_KEY } from '../gateway.ts'
import type { World } from './tenancy/types.ts'

export interface Limit {
  subject: string
  key?: string
  method?: string
  path: string | ((value: unknown) => string)
  body?: (value: unknown) => unknown
  accepted: readonly unknown[]
  rejected: readonly unknown[]
  /** Part of every rejection. */
  says: string
}

export const manages = { key: MANAGEMENT_KEY }
export const x = (length: number): string => 'x'.repeat(length)
export const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

export function runLimits(title: string, world: () => World, limits: readonly Limit[]): void {
  const ask = ({ key = API_KEY, method, path, body }: Limit, value: unknown) =>
    world().ask(key, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      path: typeof path === 'string' ? path : path(value),
      ...(body === undefined ? {} : { body: body(value) }),
    })
  describe(title, () => {
    for (const limit of limits) {
      test(limit.subject, async () => {
        for (const value of limit.accepted) {
          const { status, text } = await ask(limit, value)
          expect({ value, status, text }).toEqual({
            value,
            status: status === 201 ? 201 : 200,
            text: expect.any(String),
          })
        }
        for (const value of limit.rejected) {
          const { status, text } = await ask(limit, value)
          expect({ value, status, text }).toEqual({
            value,
            status: 400,
            text: expect.stringContaining(limit.says),
          })
        }
      })
    }
  })
}
