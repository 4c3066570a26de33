import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../../src/core/events.ts'
import { isObject } from '../../../src/core/json.ts'
import { chatIngress } from '../../../src/dialects/chat/index.ts'
import { cohereEgress } from '../../../src/dialects/cohere/index.ts'
import { FIXTURES, hasTranscripts, TRANSCRIPTS } from '../../recordings.ts'
import { attemptOf } from './attempt.ts'

/**
 * Requests of the provider's clients, expressed in chat: Sluice's request has the same content.
 * `same` removes differences of form:
 *
 * | they send | we send | because |
 * |---|---|---|
 * | `content: [{type: text, text: ""}]` beside calls | no content | an empty text carries nothing |
 */

const FOLDER = join(TRANSCRIPTS, 'cohere')

function recordedIn(folder: string): [name: string, request: JsonObject][] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.http.json'))
    .sort()
    .flatMap((file) => {
      const cassette: { interactions: { url: string; request_json?: unknown }[] } = JSON.parse(
        readFileSync(join(folder, file), 'utf8'),
      )
      return cassette.interactions.flatMap(({ url, request_json: request }, i) => {
        const found: [string, JsonObject][] = []
        if (isObject(request) && url.endsWith('/v2/chat')) found.push([`${file}#${i}`, request])
        return found
      })
    })
}

const listAt = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

const CHOICES: Readonly<Record<string, string>> = { REQUIRED: 'required', NONE: 'none' }

function toChat(request: JsonObject): JsonObject {
  const { messages, stop_sequences, response_format: format, p, k, tool_choice, ...rest } = request
  const schema = isObject(format) ? format.json_schema : undefined
  const body: JsonObject = {
    ...rest,
    model: 'm',
    messages: listAt(messages),
    stop: stop_sequences,
    top_p: p,
    top_k: k,
    tool_choice: CHOICES[String(tool_choice)],
    response_format: schema ? { type: 'json_schema', json_schema: { name: 'n', schema } } : format,
  }
  return JSON.parse(JSON.stringify(body))
}

function same({ messages, ...rest }: JsonObject): JsonObject {
  return {
    ...rest,
    messages: listAt(messages).map(({ content, tool_calls, ...message }) => {
      const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : listAt(content)
      return {
        ...message,
        content: parts.filter(({ text }) => text !== ''),
        ...(tool_calls === undefined ? {} : { tool_calls }),
      }
    }),
  }
}

function table(folder: string): void {
  test.each(recordedIn(folder))('%s', (_, request) => {
    const asked = chatIngress.parse(toChat(request), new Headers())
    const { body, path, dropped } = cohereEgress.build(
      asked,
      attemptOf({ upstreamId: String(request.model) }),
    )
    expect(path).toBe('/chat')
    expect(same(body)).toEqual(same(request))
    expect(dropped).toEqual([])
  })
}

describe.skipIf(!hasTranscripts)('recorded requests', () => {
  if (hasTranscripts) table(FOLDER)
})
describe('handwritten requests', () => table(join(FIXTURES, 'cohere', 'requests')))
