/** The requests that both binaries answer: recorded replies and generated ones, each with an endpoint of its own. */

import { join } from 'node:path'
import type { DialectName } from '../../src/core/events.ts'
import { FIXTURES, loadRecordings, type Recording, TRANSCRIPTS } from '../../test/recordings.ts'
import { failures } from './failures.ts'
import { operations } from './operations.ts'
import { parameters } from './parameters.ts'

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array<ArrayBuffer> | string
  /** The connection breaks after the body instead of ending. */
  readonly isTruncated?: boolean
}

export interface Case {
  readonly name: string
  /** Spoken by the provider of this case. */
  readonly dialect: DialectName
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** JSON, or the fields of a form. `model` is filled in. */
  readonly body: Readonly<Record<string, unknown>> | (() => FormData)
  /** What the provider answers to the first call, the second, and so on; the last one stays. */
  readonly replies: readonly Reply[]
  /** More of the provider's entry, such as `timeouts`. */
  readonly entry?: Readonly<Record<string, unknown>>
  /** More of the model of the entry, such as `pricing`. */
  readonly model?: Readonly<Record<string, unknown>>
}

const DIALECTS: readonly (readonly [prefix: string, dialect: DialectName])[] = [
  ['openai-chat', 'chat'],
  ['openai-responses', 'responses'],
  ['anthropic-messages', 'messages'],
  ['gemini', 'gemini'],
  ['bedrock-converse', 'converse'],
  ['cohere', 'cohere'],
]

const TEXT = 'What is the weather in Paris? Answer in one word.'
const TOOL = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

/** The same question in the words of each API that callers speak. */
export const QUESTIONS = {
  '/chat/completions': {
    messages: [{ role: 'user', content: TEXT }],
    tools: [{ type: 'function', function: { name: 'weather', parameters: TOOL } }],
  },
  '/responses': { input: TEXT, tools: [{ type: 'function', name: 'weather', parameters: TOOL }] },
  '/messages': {
    max_tokens: 500,
    messages: [{ role: 'user', content: TEXT }],
    tools: [{ name: 'weather', input_schema: TOOL }],
  },
} as const

function dialectOf({ api }: Recording): DialectName | null {
  return DIALECTS.find(([prefix]) => api === prefix || api.startsWith(`${prefix}-`))?.[1] ?? null
}

const replyOf = ({ status, headers, bytes }: Recording): Reply => ({
  status,
  headers: { 'content-type': headers.get('content-type') ?? 'application/json' },
  body: bytes,
})

/** Each recorded conversation behind each API that callers speak, streamed and not. */
function recorded(): Case[] {
  const recordings = [...loadRecordings(TRANSCRIPTS), ...loadRecordings(join(FIXTURES, 'chat'))]
  return recordings.flatMap((recording) => {
    const dialect = dialectOf(recording)
    if (dialect === null || /embed|rerank|image|speech|transcri/.test(recording.api)) return []
    return Object.entries(QUESTIONS).map(([path, question]) => ({
      name: `${recording.name} ${path}`,
      dialect,
      path,
      body: { ...question, stream: recording.isStream },
      replies: [replyOf(recording)],
    }))
  })
}

export const cases = (): Case[] => [...recorded(), ...failures(), ...parameters(), ...operations()]
