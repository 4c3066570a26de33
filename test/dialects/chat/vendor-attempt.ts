import { expect, test } from 'bun:test'
import type { Attempt } from '../../../src/core/attempt.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import type { EndpointRecord } from '../../../src/core/snapshot.ts'
import { buildChat } from '../../../src/dialects/chat/build.ts'
import { parseChat } from '../../../src/dialects/chat/parse.ts'
import { providerOf } from '../../providers/environment.ts'
import { attemptFor } from '../attempt.ts'
import type { NamedRow } from '../build-table.ts'

/** How Mistral, Perplexity, DeepSeek and others differ in this dialect, by the quirks of their rows. */

export function attemptAt(key: string, facts: Partial<EndpointRecord> = {}): Attempt {
  const provider = providerOf({ [key]: 'secret-1' })
  return attemptFor('chat', { endpoint: { upstreamId: 'm', ...facts }, provider })
}

export const USER = { role: 'user', content: 'Hi' }

export const assistant = (more: JsonObject) => ({ role: 'assistant', ...more })

export const fn = (name: string) => ({ type: 'function', function: { name } })

export const call = (id: string) => ({ id, type: 'function', function: { name: 'tide', arguments: '{}' } })

export const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: '14:20', name: 'tide' })

export const text = (value: string) => ({ type: 'text', text: value })

export const thinking = (value: string) => ({ type: 'thinking', thinking: [text(value)] })

export function table(key: string, rows: NamedRow[]): void {
  test.each(rows.map((row) => [row.name, row] as const))('%s', (_, { asked, facts, sent, dropped }) => {
    const request = parseChat({ messages: [USER], ...asked }, new Headers())
    const before = JSON.stringify(request)
    const built = buildChat(request, attemptAt(key, facts))
    expect(JSON.stringify(request)).toBe(before)
    expect(built.body).toEqual({ model: 'm', messages: [USER], ...sent })
    expect(built.dropped.sort()).toEqual((dropped ?? []).sort())
  })
}

export const SOME_OF_OPENAI = {
  logit_bias: { '1': 1 },
  top_logprobs: 2,
  logprobs: true,
  min_p: 0.1,
  service_tier: 'flex',
  user: 'u',
  verbosity: 'low',
}
