/** Tests as data: one row per situation, with the request and what must come back. */
import { describe, expect, test } from 'bun:test'
import type { Handler } from '../src/http/edge.ts'

export interface Scenario {
  name: string
  /** Default GET. */
  method?: string
  path: string
  /** Sent as `Authorization: Bearer …`. */
  key?: string
  headers?: Record<string, string>
  /** Text and blobs as they are; anything else as JSON. */
  body?: unknown
  status: number
  /** Parts of the reply's text. */
  contains?: readonly string[]
  absent?: readonly string[]
  /** Reply headers with their exact value; null: must be missing. */
  replyHeaders?: Record<string, string | null>
  /** The reply's JSON holds at least this. */
  json?: object
  check?(reply: Reply): void | Promise<void>
}

export interface Reply {
  status: number
  headers: Headers
  text: string
  json: unknown
}

function request(scenario: Pick<Scenario, 'method' | 'path' | 'key' | 'headers' | 'body'>): Request {
  const { method = 'GET', path, key, body } = scenario
  const headers = new Headers(scenario.headers)
  if (key !== undefined) headers.set('authorization', `Bearer ${key}`)
  const url = new URL(path, 'http://localhost')
  if (body === undefined) return new Request(url, { method, headers })
  if (typeof body === 'string' || body instanceof Blob) return new Request(url, { method, headers, body })
  if (!headers.has('content-type')) headers.set('content-type', 'application/json')
  return new Request(url, { method, headers, body: JSON.stringify(body) })
}

export async function call(handler: Handler, scenario: Omit<Scenario, 'name' | 'status'>): Promise<Reply> {
  const response = await handler(request(scenario))
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: jsonOf(text) }
}

/** Runs each row as a test of its own. Every error reply must be the envelope, whatever the row asks. */
export function runScenarios(title: string, handler: () => Handler, scenarios: readonly Scenario[]): void {
  describe(title, () => {
    for (const scenario of scenarios) {
      test(scenario.name, async () => {
        const reply = await call(handler(), scenario)
        expect({ status: reply.status, text: reply.text }).toMatchObject({ status: scenario.status })
        if (reply.status >= 400) expectEnvelope(reply)
        await expectRow(reply, scenario)
      })
    }
  })
}

async function expectRow(reply: Reply, scenario: Scenario): Promise<void> {
  for (const part of scenario.contains ?? []) expect(reply.text).toContain(part)
  for (const part of scenario.absent ?? []) expect(reply.text).not.toContain(part)
  for (const [name, value] of Object.entries(scenario.replyHeaders ?? {})) {
    expect({ name, value: reply.headers.get(name) }).toEqual({ name, value })
  }
  if (scenario.json) expect(reply.json).toMatchObject(scenario.json)
  await scenario.check?.(reply)
}

/** `{error: {code, message}}` with the status as its code, and the headers that every reply has. */
export function expectEnvelope(reply: Reply): void {
  expect(reply.json).toMatchObject({ error: { code: reply.status, message: expect.any(String) } })
  expect(reply.headers.get('content-type')).toMatch(/^application\/json/)
  expect(reply.headers.get('x-request-id')).toMatch(/^req-[0-9a-f]{32}$/)
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
