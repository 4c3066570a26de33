import { describe } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { streamOf } from './dialects/converse/frames.ts'

/**
 * Exchanges with providers, for the tables of every dialect. A folder of them has an `EXPECTED.json` and, by the
 * names in it, `.http.json` cassettes, `.chunks.txt` or `.jsonl` (one event's JSON a line), `.sse` and `.json`
 * bodies. `test/fixtures` has hand-made ones; recorded traffic lies beside the project, or where
 * SLUICE_TRANSCRIPTS says, and is not part of it.
 */
export interface Recording {
  /** Unique: the file, and which of its exchanges. */
  readonly name: string
  readonly file: string
  readonly provider: string
  /** Such as `openai-chat`, `anthropic-messages`, `gemini`. */
  readonly api: string
  readonly isStream: boolean
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly expected: Expected
}

/** What an independent reader found. Usage and finish are in the provider's own vocabulary; first choice only. */
export interface Expected {
  readonly api: string
  readonly framing: string
  readonly stream: boolean
  readonly status?: number | null
  readonly finish?: string | null
  readonly text?: string
  readonly reasoning?: string
  readonly refusal?: string
  readonly tool_calls?: { name: string | null; arguments: unknown; id: string | null }[]
  /** How many. */
  readonly images?: number
  readonly citations?: number
  readonly usage?: Record<string, unknown> | null
  /** The beginning of the error object's JSON. */
  readonly error?: string | null
  readonly tags?: string[]
}

interface Cassette {
  interactions: {
    status: number
    response_headers?: Record<string, string | string[]>
    response_text?: string
    response_base64?: string
  }[]
}

type ExpectedFile = Record<string, { provider: string; interactions: Expected[] }>

const PROJECT = join(import.meta.dir, '..')
export const TRANSCRIPTS = process.env['SLUICE_TRANSCRIPTS'] ?? join(PROJECT, '../shared/transcripts')
export const FIXTURES = join(import.meta.dir, 'fixtures')

export const hasTranscripts = existsSync(join(TRANSCRIPTS, 'EXPECTED.json'))

/** Defines `table`'s tests for hand-made replies of these dialects and, if there is any, for recorded traffic. */
export function forReplies(
  dialects: readonly string[],
  isWanted: (recording: Recording) => boolean | undefined,
  table: (recordings: Recording[]) => void,
): void {
  const define = (folder: string): void => {
    const wanted = loadRecordings(folder).filter(isWanted)
    if (wanted.length > 0) table(wanted)
  }
  describe('hand-made replies', () => {
    for (const dialect of dialects) define(join(FIXTURES, dialect))
  })
  describe.skipIf(!hasTranscripts)('recorded replies', () => define(TRANSCRIPTS))
}

/** All exchanges of a folder; empty if the folder is absent, which is logged. */
export function loadRecordings(folder: string): Recording[] {
  const index = join(folder, 'EXPECTED.json')
  if (!existsSync(index)) {
    console.warn(`skipped: no recordings in ${folder} (SLUICE_TRANSCRIPTS names another folder)`)
    return []
  }
  const files: ExpectedFile = JSON.parse(readFileSync(index, 'utf8'))
  return Object.entries(files).flatMap(([file, { provider, interactions }]) =>
    interactions.map((expected, i) => {
      const { status, headers, bytes } = load(join(folder, file), i, expected)
      const name = interactions.length === 1 ? file : `${file}#${i}`
      const { api, stream: isStream } = expected
      return { name, file, provider, api, isStream, status, headers, bytes, expected }
    }),
  )
}

function load(path: string, exchange: number, expected: Expected) {
  if (path.endsWith('.http.json')) return fromCassette(path, exchange)
  const bytes = new Uint8Array(readFileSync(path))
  const isLines = expected.framing === 'json-lines' || expected.framing === 'ndjson'
  return {
    status: expected.status ?? 200,
    headers: new Headers({ 'content-type': expected.stream ? 'text/event-stream' : 'application/json' }),
    bytes: isLines ? asEvents(new TextDecoder().decode(bytes), expected.api) : bytes,
  }
}

function fromCassette(path: string, exchange: number) {
  const cassette: Cassette = JSON.parse(readFileSync(path, 'utf8'))
  const found = cassette.interactions[exchange]
  if (!found) throw new Error(`${path} has no exchange ${exchange}`)
  const headers = new Headers()
  for (const [key, value] of Object.entries(found.response_headers ?? {})) headers.set(key, String(value))
  const bytes =
    found.response_text === undefined
      ? new Uint8Array(Buffer.from(found.response_base64 ?? '', 'base64'))
      : new TextEncoder().encode(found.response_text)
  return { status: found.status, headers, bytes }
}

/**
 * A log of events has lost its framing: each line is an event again, and `[DONE]` ends those of OpenAI's shape. Those
 * of Bedrock are binary.
 */
function asEvents(lines: string, api: string): Uint8Array<ArrayBuffer> {
  const events = lines.split('\n').filter((line) => line.trim() !== '' && line.trim() !== '[DONE]')
  if (api === 'bedrock-converse') return streamOf(events.map((event) => JSON.parse(event)))
  if (api.startsWith('openai-chat') || api === 'openai-completions') events.push('[DONE]')
  return new TextEncoder().encode(events.map((event) => `data: ${event}\n\n`).join(''))
}
