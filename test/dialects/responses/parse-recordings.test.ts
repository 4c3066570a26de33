import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../../src/core/json.ts'
import { parseResponses } from '../../../src/dialects/responses/parse.ts'
import { hasTranscripts, TRANSCRIPTS } from '../../recordings.ts'
import { NONE } from './written.ts'

/** Requests that clients have sent to this API are accepted unchanged. */

interface Asked {
  url: string
  request_json?: unknown
}

const requests = (): [string, Record<string, unknown>][] =>
  readdirSync(TRANSCRIPTS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.http.json'))
    .toSorted()
    .flatMap((file) => {
      const { interactions }: { interactions: Asked[] } = JSON.parse(
        readFileSync(join(TRANSCRIPTS, file), 'utf8'),
      )
      return interactions.flatMap(({ url, request_json: body }, i): [string, Record<string, unknown>][] =>
        /\/responses(?:\?|$)/.test(url) && isObject(body) ? [[`${file}#${i}`, body]] : [],
      )
    })

describe.skipIf(!hasTranscripts)('recorded requests', () => {
  test.each(hasTranscripts ? requests() : [])('%s', (_, body) => {
    const request = parseResponses(body, NONE)
    expect(request.body).toBe(body)
    expect(request.messages.length).toBeGreaterThan(0)
    const calls = request.messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id))
    for (const { role, toolCallId } of request.messages)
      if (role === 'tool') expect(calls).toContain(toolCallId ?? '')
  })
})
