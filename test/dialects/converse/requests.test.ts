import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../../src/core/events.ts'
import { isObject } from '../../../src/core/json.ts'
import { chatIngress } from '../../../src/dialects/chat/index.ts'
import { converseEgress } from '../../../src/dialects/converse/index.ts'
import { hasTranscripts, TRANSCRIPTS } from '../../recordings.ts'
import { attemptOf } from './attempt.ts'

/**
 * Requests of Bedrock's clients, expressed in chat: Sluice's request has the same content.
 * `same` removes differences of form; those of content are in `DIFFERENCES`.
 */

/** By a part of the file's name: what the gateway sends instead, and why that is right. */
const DIFFERENCES: Readonly<Record<string, { why: string; sent(recorded: JsonObject): JsonObject }>> = {
  guardrail_converse: {
    why: 'turns of one role that follow each other are one: the API demands that roles alternate',
    sent: ({ messages, ...rest }) => ({
      ...rest,
      messages: [{ role: 'user', content: listAt(messages).flatMap(({ content }) => listAt(content)) }],
    }),
  },
}

interface Asked {
  name: string
  model: string
  isStream: boolean
  request: JsonObject
}

function recorded(): Asked[] {
  if (!hasTranscripts) return []
  return ['bedrock', 'local'].flatMap((folder) =>
    readdirSync(join(TRANSCRIPTS, folder))
      .filter((file) => file.endsWith('.http.json'))
      .sort()
      .flatMap((file) => {
        const cassette: { interactions: { url: string; request_json?: unknown }[] } = JSON.parse(
          readFileSync(join(TRANSCRIPTS, folder, file), 'utf8'),
        )
        return cassette.interactions.flatMap(({ url, request_json: request }, i) => {
          const [, model = '', stream] = /\/model\/([^/]+)\/converse(-stream)?$/.exec(url) ?? []
          return isObject(request) && model !== ''
            ? [
                {
                  name: `${file}#${i}`,
                  model: decodeURIComponent(model),
                  isStream: stream !== undefined,
                  request,
                },
              ]
            : []
        })
      }),
  )
}

const listAt = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const objectAt = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** A cache point is a marker on the part before it. */
function toParts(blocks: readonly JsonObject[]): JsonObject[] {
  const parts: JsonObject[] = []
  for (const block of blocks) {
    const last = parts.at(-1)
    if (block['cachePoint'] !== undefined && last) last['cache_control'] = { type: 'ephemeral' }
    else parts.push(toPart(block))
  }
  return parts
}

function toPart({ text, document, image }: JsonObject): JsonObject {
  if (isObject(document)) {
    const { name, format, source, citations } = document
    const { text: plain = '' } = objectAt(source)
    const file = {
      filename: `${name}.${format}`,
      file_data: `data:text/plain,${encodeURIComponent(String(plain))}`,
    }
    return { type: 'file', file, citations }
  }
  if (isObject(image)) {
    const { bytes } = objectAt(image['source'])
    return { type: 'image_url', image_url: { url: `data:image/${image['format']};base64,${bytes}` } }
  }
  return { type: 'text', text }
}

/** One turn is several messages in chat: each result of a tool is one. */
function toMessages({ role, content }: JsonObject): JsonObject[] {
  const blocks = listAt(content)
  const results = blocks.flatMap(({ toolResult }) =>
    isObject(toolResult)
      ? [
          {
            role: 'tool',
            tool_call_id: toolResult['toolUseId'],
            content: listAt(toolResult['content'])
              .map(({ text, json }) => (typeof text === 'string' ? text : JSON.stringify(json)))
              .join(''),
          },
        ]
      : [],
  )
  const calls = blocks.flatMap(({ toolUse }) =>
    isObject(toolUse)
      ? [
          {
            id: toolUse['toolUseId'],
            type: 'function',
            function: { name: toolUse['name'], arguments: JSON.stringify(toolUse['input']) },
          },
        ]
      : [],
  )
  const reasoning_details = blocks.flatMap(({ reasoningContent }) =>
    isObject(reasoningContent)
      ? [
          {
            type: 'reasoning.text',
            ...objectAt(reasoningContent['reasoningText']),
            format: 'anthropic-claude-v1',
          },
        ]
      : [],
  )
  const parts = toParts(
    blocks.filter((block) => !block['toolResult'] && !block['toolUse'] && !block['reasoningContent']),
  )
  const own = {
    role,
    content: parts,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(reasoning_details.length > 0 ? { reasoning_details } : {}),
  }
  return parts.length > 0 || calls.length > 0 ? [...results, own] : results
}

function toTool(tool: JsonObject): JsonObject {
  if (isObject(tool['systemTool'])) return { type: 'system', ...tool }
  const { name, description, inputSchema, strict } = objectAt(tool['toolSpec'])
  const { json: parameters } = objectAt(inputSchema)
  return { type: 'function', function: { name, description, parameters, strict } }
}

function toFormat(outputConfig: unknown): JsonObject | undefined {
  const { structure } = objectAt(objectAt(outputConfig)['textFormat'])
  const { jsonSchema } = objectAt(structure)
  if (!isObject(jsonSchema)) return undefined
  const schema: unknown = JSON.parse(String(jsonSchema['schema']))
  return { type: 'json_schema', json_schema: { ...jsonSchema, schema } }
}

const toChoice = (choice: unknown): string | undefined => {
  if (!isObject(choice)) return undefined
  return choice['any'] === undefined ? 'auto' : 'required'
}

function toReasoning(fields: unknown): JsonObject | undefined {
  const { thinking, reasoningConfig } = objectAt(fields)
  if (isObject(thinking)) return { max_tokens: thinking['budget_tokens'] }
  return isObject(reasoningConfig) ? { effort: reasoningConfig['maxReasoningEffort'] } : undefined
}

function toChat({ request, isStream }: Asked): JsonObject {
  const { system, messages, inferenceConfig, toolConfig, outputConfig, additionalModelRequestFields } =
    request
  const { maxTokens, temperature, topP, stopSequences } = objectAt(inferenceConfig)
  const { tools, toolChoice } = objectAt(toolConfig)
  const instructions = toParts(listAt(system))
  const body: JsonObject = {
    model: 'm',
    messages: [
      ...(instructions.length > 0 ? [{ role: 'system', content: instructions }] : []),
      ...listAt(messages).flatMap(toMessages),
    ],
    stream: isStream,
    max_tokens: maxTokens,
    temperature,
    top_p: topP,
    stop: stopSequences,
    tools: tools === undefined ? undefined : listAt(tools).map(toTool),
    tool_choice: toChoice(toolChoice),
    reasoning: toReasoning(additionalModelRequestFields),
    response_format: toFormat(outputConfig),
    guardrailConfig: request['guardrailConfig'],
  }
  return JSON.parse(JSON.stringify(body))
}

/**
 * The same without fields that carry nothing (empty lists and objects, `status: success`), with results of JSON and documents
 * of text as the text and bytes that they are, and with schemas as objects.
 */
function same(request: JsonObject): JsonObject {
  const format = toFormat(request['outputConfig'])
  const { outputConfig, messages, ...rest } = request
  const filled = Object.entries(rest).filter(([, value]) => !isEmpty(value))
  return {
    ...Object.fromEntries(filled),
    ...(format === undefined ? {} : { format }),
    messages: listAt(messages).map(({ role, content }) => ({
      role,
      content: listAt(content).map(sameBlock),
    })),
  }
}

const isEmpty = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0

function sameBlock(block: JsonObject): JsonObject {
  const { toolResult, document } = block
  if (isObject(document)) {
    const { text } = objectAt(document['source'])
    if (typeof text !== 'string') return block
    return { document: { ...document, source: { bytes: Buffer.from(text).toString('base64') } } }
  }
  if (!isObject(toolResult)) return block
  const { status, content, ...rest } = toolResult
  const texts = listAt(content).map(({ text, json }) =>
    typeof text === 'string' ? text : JSON.stringify(json),
  )
  return { toolResult: { ...rest, texts, ...(status === 'error' ? { status } : {}) } }
}

describe.skipIf(!hasTranscripts)('recorded requests', () => {
  test.each(recorded().map((each) => [each.name, each] as const))('%s', (name, asked) => {
    const difference = Object.entries(DIFFERENCES).find(([piece]) => name.includes(piece))?.[1]
    const { body, dropped, path } = converseEgress.build(
      chatIngress.parse(toChat(asked), new Headers()),
      attemptOf(asked.model),
    )
    expect(same(body)).toEqual(same(difference ? difference.sent(asked.request) : asked.request))
    expect(dropped).toEqual([])
    expect(path).toBe(`/model/${encodeURIComponent(asked.model)}/converse${asked.isStream ? '-stream' : ''}`)
  })
})
