import { expect } from 'bun:test'
import { chatIngress } from '../../../src/dialects/chat/index.ts'
import type { DialectCall } from '../../../src/dialects/dialect.ts'
import { geminiEgress } from '../../../src/dialects/gemini/index.ts'
import { attemptAt, type Endpoint } from './attempt.ts'

export const HELLO = [{ role: 'user', content: 'Hello' }]

export function build(body: Record<string, unknown>, endpoint: Endpoint = {}): DialectCall {
  const request = chatIngress.parse({ model: 'm', messages: HELLO, ...body }, new Headers())
  const before = structuredClone(request)
  const call = geminiEgress.build(request, attemptAt(endpoint))
  expect(request).toEqual(before)
  return call
}

export type Row = [
  what: string,
  body: Record<string, unknown>,
  expected: unknown,
  dropped?: string[],
  at?: Endpoint,
]

export const NEW = { upstreamId: 'gemini-3.1-pro-preview' }

export const OBJECT = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }

export const JSON_TYPE = { responseMimeType: 'application/json' }

export const user = (...content: unknown[]) => ({ role: 'user', content })
