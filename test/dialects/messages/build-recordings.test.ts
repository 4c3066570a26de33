import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../../src/core/events.ts'
import { isObject } from '../../../src/core/json.ts'
import { chatIngress } from '../../../src/dialects/chat/index.ts'
import { messagesEgress } from '../../../src/dialects/messages/index.ts'
import { hasTranscripts, TRANSCRIPTS } from '../../recordings.ts'
import { attemptOf } from './attempt.ts'

/**
 * Recorded requests of the provider's clients, translated to chat: the request that we build from them is equivalent.
 * `same` removes differences of form.
 */

const FOLDER = join(TRANSCRIPTS, 'anthropic')

interface Asked {
  name: string
  request: JsonObject
}

function recorded(): Asked[] {
  if (!hasTranscripts) return []
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.http.json'))
    .sort()
    .flatMap((file) => {
      const cassette: { interactions: { url: string; request_json?: unknown }[] } = JSON.parse(
        readFileSync(join(FOLDER, file), 'utf8'),
      )
      return cassette.interactions.flatMap(({ url, request_json: request }, i) =>
        isObject(request) && /\/messages(\?|$)/.test(url) && request.max_tokens !== undefined
          ? [{ name: `${file}#${i}`, request }]
          : [],
      )
    })
}

const blocksOf = (content: unknown): JsonObject[] => {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.filter(isObject) : []
}
const markOf = ({ cache_control }: JsonObject): JsonObject => (cache_control ? { cache_control } : {})

function toPart(block: JsonObject): JsonObject {
  const source = isObject(block.source) ? block.source : {}
  const url = source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`
  if (block.type === 'image') return { type: 'image_url', image_url: { url }, ...markOf(block) }
  if (block.type === 'document') return { type: 'file', file: { file_data: url }, ...markOf(block) }
  return { type: 'text', text: block.text, ...markOf(block) }
}

/** One turn is several messages in chat: each result of a tool is one. */
function toMessages({ role, content }: JsonObject): JsonObject[] {
  const blocks = blocksOf(content)
  const results = blocks
    .filter(({ type }) => type === 'tool_result')
    .map((block) => ({
      role: 'tool',
      tool_call_id: block.tool_use_id,
      content: blocksOf(block.content).map(toPart),
      is_error: block.is_error,
    }))
  const calls = blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({ id, function: { name, arguments: JSON.stringify(input) } }))
  const parts = blocks.filter(({ type }) => !String(type).startsWith('tool_')).map(toPart)
  const own = { role, content: parts, ...(calls.length > 0 ? { tool_calls: calls } : {}) }
  return parts.length > 0 || calls.length > 0 ? [...results, own] : results
}

const listAt = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

function toTool(tool: JsonObject): JsonObject {
  if (tool.type !== undefined && tool.type !== 'custom') return tool
  const { name, description, input_schema: parameters, strict } = tool
  return { type: 'function', function: { name, description, parameters, strict }, ...markOf(tool) }
}

function toChat(request: JsonObject): JsonObject {
  const { system, messages, tools, tool_choice, stop_sequences, output_config, thinking } = request
  const format = isObject(output_config) ? output_config.format : undefined
  const instructions = blocksOf(system).map(toPart)
  const body: JsonObject = {
    model: 'm',
    messages: [
      ...(instructions.length > 0 ? [{ role: 'system', content: instructions }] : []),
      ...listAt(messages).flatMap(toMessages),
    ],
    max_tokens: request.max_tokens,
    stream: request.stream,
    temperature: request.temperature,
    stop: stop_sequences,
    tools: tools === undefined ? undefined : listAt(tools).map(toTool),
    tool_choice: isObject(tool_choice) ? tool_choice.type : undefined,
    reasoning: isObject(thinking) ? { max_tokens: thinking.budget_tokens } : undefined,
    response_format: isObject(format)
      ? { type: 'json_schema', json_schema: { name: 'n', schema: format.schema } }
      : undefined,
  }
  return JSON.parse(JSON.stringify(body))
}

/** Strings as blocks, without defaults: `stream: false`, `is_error: false`. */
function same(request: JsonObject): JsonObject {
  const { stream, system, messages, tools, ...rest } = request
  const block = ({ is_error, content, ...more }: JsonObject): JsonObject => ({
    ...more,
    ...(is_error === true ? { is_error } : {}),
    ...(content === undefined ? {} : { content: blocksOf(content) }),
  })
  return {
    ...rest,
    ...(stream === true ? { stream } : {}),
    ...(system === undefined ? {} : { system: blocksOf(system) }),
    ...(tools === undefined ? {} : { tools: listAt(tools).map(withoutUsualType) }),
    messages: listAt(messages).map(({ role, content }) => ({ role, content: blocksOf(content).map(block) })),
  }
}

/** A tool without a type is `custom`. */
const withoutUsualType = ({ type, ...tool }: JsonObject): JsonObject =>
  type === undefined || type === 'custom' ? tool : { type, ...tool }

describe.skipIf(!hasTranscripts)('recorded requests', () => {
  test.each(recorded().map((each) => [each.name, each.request] as const))('%s', (_, request) => {
    const asked = chatIngress.parse(toChat(request), new Headers())
    const { body, dropped } = messagesEgress.build(asked, attemptOf(String(request.model)))
    expect(same(body)).toEqual(same(request))
    expect(dropped).toEqual([])
  })
})
