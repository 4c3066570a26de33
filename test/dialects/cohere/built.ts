import { expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import type { EndpointRecord } from '../../../src/core/snapshot.ts'
import { chatIngress } from '../../../src/dialects/chat/index.ts'
import { cohereEgress } from '../../../src/dialects/cohere/index.ts'
import type { NamedRow } from '../build-table.ts'
import { attemptOf } from './attempt.ts'

export const USER = { role: 'user', content: 'Hi' }

export function build(body: JsonObject, facts: Partial<EndpointRecord> = {}, outputBound?: number) {
  const request = chatIngress.parse({ model: 'm', messages: [USER], ...body }, new Headers())
  const before = JSON.stringify(request)
  const built = cohereEgress.build(request, attemptOf(facts, outputBound))
  expect(JSON.stringify(request)).toBe(before)
  return built
}

export const BARE = { model: 'command-a', stream: false, messages: [USER] }

export const own = (type: string, more: JsonObject) => ({ type, format: 'cohere-v2', ...more })

export function table(rows: NamedRow[]): void {
  test.each(rows.map((row) => [row.name, row] as const))('%s', (_, { asked, facts, sent, dropped }) => {
    const built = build(asked, facts)
    expect(built.path).toBe('/chat')
    expect(built.body).toEqual({ ...BARE, ...sent })
    expect(built.dropped.sort()).toEqual((dropped ?? []).sort())
  })
}
