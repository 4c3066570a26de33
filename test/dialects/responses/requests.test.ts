import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../../src/core/events.ts'
import { isObject } from '../../../src/core/json.ts'
import { chatIngress } from '../../../src/dialects/chat/index.ts'
import { responsesEgress } from '../../../src/dialects/responses/index.ts'
import { detailsOfItem } from '../../../src/dialects/responses/items.ts'
import { hasTranscripts, loadRecordings, TRANSCRIPTS } from '../../recordings.ts'
import { attemptOf } from './attempt.ts'

/**
 * Requests that clients have sent to providers of this API, written as chat requests: the gateway builds the same
 * request from them. `same` removes differences of form:
 * - `instructions` are a message of the system, which comes first; an empty message is left out
 * - an earlier answer of one text is a string or a list; ids and statuses of items are not needed
 * - functions without `strict`: those of chat are not strict by default, and the gateway sends that
 * - nothing is stored (`store: false`), an image's `detail` is `auto`, null is absent
 */

/** Fields that chat does not have, or that the gateway sets itself. */
const DIFFERENCES: Readonly<Record<string, { without: string[]; why: string }>> = {
  'openai/pyd-background_mode_vcr.http.json#0': {
    without: ['background'],
    why: 'what runs in the background runs here, and asks for an answer at once',
  },
  'openrouter/pyd-openrouter_responses_prompt_cache_e2e.http.json#0': {
    without: ['provider'],
    why: 'routing is ours',
  },
  'openrouter/pyd-openrouter_responses_prompt_cache_e2e.http.json#1': {
    without: ['provider'],
    why: 'routing is ours',
  },
}

interface Asked {
  name: string
  request: JsonObject
}

function recorded(): Asked[] {
  if (!hasTranscripts) return []
  return loadRecordings(TRANSCRIPTS)
    .filter(({ api, file }) => api === 'openai-responses' && file.endsWith('.http.json'))
    .flatMap(({ name, file }) => {
      const cassette: { interactions: { request_json?: unknown }[] } = JSON.parse(
        readFileSync(join(TRANSCRIPTS, file), 'utf8'),
      )
      const request = cassette.interactions[Number(name.split('#')[1] ?? 0)]?.request_json
      return isObject(request) ? [{ name, request }] : []
    })
}

const listAt = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

const toPart = (part: JsonObject): JsonObject => {
  const { prompt_cache_breakpoint } = part
  if (part.type !== 'input_image') return { type: 'text', text: part.text, prompt_cache_breakpoint }
  return { type: 'image_url', image_url: { url: part.image_url } }
}

const toContent = (content: unknown): unknown =>
  Array.isArray(content) ? listAt(content).map(toPart) : content

interface Turn {
  role: string
  content?: unknown
  phase?: unknown
  reasoning_details?: JsonObject[]
  tool_calls?: JsonObject[]
}

/** Items that follow each other are one message of the assistant. */
function toMessages(items: readonly JsonObject[]): JsonObject[] {
  const messages: JsonObject[] = []
  let turn: Turn | undefined
  const openTurn = (isFull: (turn: Turn) => boolean): Turn => {
    if (turn === undefined || isFull(turn)) {
      turn = { role: 'assistant' }
      messages.push({ ...turn })
    }
    return turn
  }
  const put = (former: Turn, more: Partial<Turn>): void => {
    turn = { ...former, ...more }
    messages[messages.length - 1] = { ...turn }
  }
  for (const item of items) {
    if (item.type === 'reasoning') {
      const open = openTurn(({ content, tool_calls }) => content !== undefined || tool_calls !== undefined)
      const details = open.reasoning_details ?? []
      put(open, { reasoning_details: [...details, ...detailsOfItem(item, details.length)] })
    } else if (item.type === 'function_call') {
      const open = openTurn(() => false)
      const { call_id: id, name, arguments: json } = item
      const call = { id, type: 'function', function: { name, arguments: json } }
      put(open, { tool_calls: [...(open.tool_calls ?? []), call] })
    } else if (item.role === 'assistant') {
      const open = openTurn(({ content, tool_calls }) => content !== undefined || tool_calls !== undefined)
      put(open, { content: toContent(item.content), ...(item.phase ? { phase: item.phase } : {}) })
    } else {
      turn = undefined
      messages.push(
        item.type === 'function_call_output'
          ? { role: 'tool', tool_call_id: item.call_id, content: toContent(item.output) }
          : { role: item.role, content: toContent(item.content) },
      )
    }
  }
  return messages
}

function toTool(tool: JsonObject): JsonObject {
  if (tool.type !== 'function') return tool
  const { name, description, parameters, strict } = tool
  return { type: 'function', function: { name, description, parameters, strict } }
}

const toFormat = (format: unknown): JsonObject | undefined => {
  if (!isObject(format)) return undefined
  const { type, ...json_schema } = format
  return type === 'json_schema' ? { type, json_schema } : { type }
}

/** In chat `reasoning` also requests a summary. */
const toReasoning = (reasoning: unknown): JsonObject => {
  if (!isObject(reasoning)) return {}
  return reasoning.summary ? { reasoning } : { reasoning_effort: reasoning.effort }
}

function toChat(request: JsonObject): JsonObject {
  const text = isObject(request.text) ? request.text : {}
  const body: JsonObject = {
    model: 'm',
    messages: [
      ...(request.instructions ? [{ role: 'system', content: request.instructions }] : []),
      ...toMessages(listAt(request.input)),
    ],
    max_tokens: request.max_output_tokens,
    stream: request.stream,
    tools: request.tools === undefined ? undefined : listAt(request.tools).map(toTool),
    tool_choice: request.tool_choice,
    response_format: toFormat(text.format),
    verbosity: text.verbosity,
    ...toReasoning(request.reasoning),
    service_tier: request.service_tier,
    prompt_cache_options: request.prompt_cache_options,
  }
  return JSON.parse(JSON.stringify(body))
}

const withoutNulls = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))

function sameItem({ id, status, ...item }: JsonObject): JsonObject {
  if (item.type === 'reasoning') return withoutNulls({ ...(id === undefined ? {} : { id }), ...item })
  const parts = listAt(item.content).map(({ annotations: _annotations, ...part }) =>
    part.type === 'input_image' ? { detail: 'auto', ...part } : part,
  )
  const [only] = parts
  const isText = parts.length === 1 && only?.type === 'output_text'
  const content = Array.isArray(item.content) ? (isText ? only?.text : parts) : item.content
  const { type, ...rest } = item
  return {
    ...rest,
    ...(type === 'message' || type === undefined ? {} : { type }),
    ...(content === undefined ? {} : { content }),
  }
}

function same(request: JsonObject, without: readonly string[]): JsonObject {
  const { instructions, input, stream, store: _store, tools, reasoning, ...rest } = withoutNulls(request)
  for (const name of without) delete rest[name]
  return {
    ...rest,
    ...(stream === true ? { stream } : {}),
    ...(isObject(reasoning) ? { reasoning: withoutNulls(reasoning) } : {}),
    ...(tools === undefined
      ? {}
      : {
          tools: listAt(tools)
            .map(withoutNulls)
            .map((tool) => (tool.type === 'function' ? { strict: false, ...tool } : tool)),
        }),
    input: [
      ...[{ role: 'system', content: instructions ?? '' }, ...listAt(input)]
        .filter(({ role, content }) => role === undefined || content !== '')
        .map(sameItem),
    ],
  }
}

describe.skipIf(!hasTranscripts)('recorded requests', () => {
  test.each(recorded().map((each) => [each.name, each.request] as const))('%s', (name, request) => {
    const { without } = DIFFERENCES[name] ?? { without: [] }
    const asked = chatIngress.parse(toChat(request), new Headers())
    // A client that requests encrypted reasoning knows that the model reasons.
    const facts = { supportedParameters: request.include ? ['reasoning', 'temperature'] : ['temperature'] }
    const { body, dropped, path } = responsesEgress.build(asked, attemptOf(String(request.model), facts))
    expect(path).toBe('/responses')
    expect(body.store).toBe(false)
    expect(same(body, without)).toEqual(same(request, without))
    expect(dropped).toEqual([])
  })

  test('every difference names an existing recording', () => {
    const names = recorded().map(({ name }) => name)
    expect(Object.keys(DIFFERENCES).filter((name) => !names.includes(name))).toEqual([])
  })
})
