import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chatIngress } from '../../../src/dialects/chat/index.ts'
import { geminiEgress } from '../../../src/dialects/gemini/index.ts'
import { hasTranscripts, loadRecordings, TRANSCRIPTS } from '../../recordings.ts'
import { attemptAt } from './attempt.ts'

/**
 * Requests of Google's own clients, expressed in chat and written by Sluice: the same except for
 * - `safetySettings`, `modelArmorConfig` and `includeServerSideToolInvocations`, which chat does not have
 * - a schema goes into the older field if that can express it: only that field is compared here (its keywords have their own tests)
 * - `thoughtSignature` only on the first of parallel calls, as Google sends it (one client repeated it)
 * - empty texts, empty `required`, `properties` and `generationConfig`, and the response format if it is text
 */
interface Exchange {
  name: string
  model: string
  isStream: boolean
  request: Json
}
type Json = Record<string, unknown>

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const jsonOf = (value: unknown): Json => (isJson(value) ? value : {})
const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : [])

/** Requests that Google refused because of their form, and the numbered types of one client. */
const UNSAYABLE = /invalid_role|function_call_choice/

function exchanges(): Exchange[] {
  if (!hasTranscripts) return []
  const files = new Set(
    loadRecordings(TRANSCRIPTS).flatMap(({ api, file }) =>
      api === 'gemini' && file.endsWith('.http.json') && !UNSAYABLE.test(file) ? [file] : [],
    ),
  )
  return [...files].flatMap((file) => {
    const { interactions }: Json = JSON.parse(readFileSync(join(TRANSCRIPTS, file), 'utf8'))
    return listOf(interactions).flatMap(({ url, request_json }, i) => {
      const match = /models\/([^:/]+):(generateContent|streamGenerateContent)/.exec(String(url))
      if (!match?.[1] || !isJson(request_json)) return []
      const request = unified(request_json)
      return [{ name: `${file}#${i}`, model: match[1], isStream: match[2] !== 'generateContent', request }]
    })
  })
}

/** The wire takes both spellings of a name, and types in any case. */
function unified(request: Json): Json {
  const text = JSON.stringify(request)
    .replaceAll('"function_call":', '"functionCall":')
    .replaceAll('"function_response":', '"functionResponse":')
    .replace(/"type":"([A-Z]+)"/g, (_, type: string) => `"type":"${type.toLowerCase()}"`)
  const value: unknown = JSON.parse(text)
  return jsonOf(value)
}

const dataUrl = ({ mimeType, data }: Json): string => `data:${String(mimeType)};base64,${String(data)}`

function chatPart({ text, inlineData, fileData }: Json): Json[] {
  if (isJson(inlineData)) {
    const url = dataUrl(inlineData)
    return /^data:image/.test(url)
      ? [{ type: 'image_url', image_url: { url } }]
      : [{ type: 'file', file: { file_data: url } }]
  }
  if (isJson(fileData)) return [{ type: 'image_url', image_url: { url: fileData['fileUri'] } }]
  return typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : []
}

function chatMessages(contents: readonly Json[]): Json[] {
  let made = 0
  const waiting: { id: string; name: unknown }[] = []
  return contents.flatMap(({ role, parts: raw }): Json[] => {
    const parts = listOf(raw)
    const results = parts.flatMap(({ functionResponse: found }) => {
      if (!isJson(found)) return []
      const call = waiting.splice(
        waiting.findIndex(({ name }) => name === found['name']),
        1,
      )[0]
      return [{ role: 'tool', tool_call_id: call?.id, content: JSON.stringify(found['response']) }]
    })
    if (role !== 'model') {
      const content = parts.flatMap(chatPart)
      return content.length > 0 ? [...results, { role: 'user', content }] : results
    }
    const calls = parts.flatMap(({ functionCall, thoughtSignature }, i) => {
      if (!isJson(functionCall)) return []
      const id = `call_${String(made++).padStart(32, '0')}`
      waiting.push({ id, name: functionCall['name'] })
      const isFirst = parts.findIndex((part) => isJson(part['functionCall'])) === i
      const extra =
        isFirst && thoughtSignature ? { google: { thought_signature: thoughtSignature } } : undefined
      const called = { name: functionCall['name'], arguments: JSON.stringify(functionCall['args'] ?? {}) }
      return [{ id, type: 'function', function: called, ...(extra ? { extra_content: extra } : {}) }]
    })
    const joined = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('')
    return [
      { role: 'assistant', content: joined || null, ...(calls.length > 0 ? { tool_calls: calls } : {}) },
    ]
  })
}

function chatBody({ systemInstruction, contents, tools, generationConfig }: Json): Json {
  const config = jsonOf(generationConfig)
  const system = listOf(jsonOf(systemInstruction)['parts']).map(({ text }) => ({
    role: 'system',
    content: text,
  }))
  const functions = listOf(tools).flatMap(({ functionDeclarations }) => listOf(functionDeclarations))
  const schema = config['responseJsonSchema'] ?? config['responseSchema']
  return {
    model: 'm',
    messages: [...system, ...chatMessages(listOf(contents))],
    ...(functions.length > 0
      ? { tools: functions.map((each) => ({ type: 'function', function: each })) }
      : {}),
    ...(listOf(tools).some((tool) => isJson(tool['googleSearch'] ?? tool['google_search']))
      ? { web_search_options: {} }
      : {}),
    ...(schema ? { response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } } : {}),
    ...(isJson(config['thinkingConfig']) ? { reasoning: { exclude: false } } : {}),
    temperature: config['temperature'],
    max_tokens: config['maxOutputTokens'],
    stop: config['stopSequences'],
  }
}

/** As both sides are compared. */
function meant(request: Json): unknown {
  const { contents, systemInstruction, tools, generationConfig } = request
  const { responseModalities, responseJsonSchema, responseSchema, ...config } = jsonOf(generationConfig)
  return {
    system: listOf(jsonOf(systemInstruction)['parts']),
    contents: listOf(contents).map(({ role, parts }) => {
      const signed = listOf(parts).findIndex((part) => part['thoughtSignature'] !== undefined)
      return {
        role: role ?? 'user',
        parts: listOf(parts).flatMap(({ thoughtSignature, ...part }, i) => {
          if (part['text'] === '') return []
          return [i === signed ? { ...part, thoughtSignature } : part]
        }),
      }
    }),
    tools: listOf(tools).map((tool) =>
      isJson(tool['google_search'] ?? tool['googleSearch'])
        ? 'search'
        : listOf(tool['functionDeclarations']).map(({ parameters, ...rest }) => {
            const { required, properties, ...schema } = jsonOf(parameters)
            const isEmpty = Object.keys(jsonOf(properties)).length === 0
            return isEmpty ? rest : { ...rest, parameters: { ...schema, properties, required } }
          }),
    ),
    config,
    hasSchema: (responseJsonSchema ?? responseSchema) !== undefined,
  }
}

describe.skipIf(!hasTranscripts)('recorded requests', () => {
  const rows = exchanges().map((each) => [each.name, each] as const)
  if (rows.length === 0) return
  test.each(rows)('%s', (_, { model, isStream, request }) => {
    const asked = chatIngress.parse({ ...chatBody(request), stream: isStream }, new Headers())
    const call = geminiEgress.build(asked, attemptAt({ upstreamId: model }))
    expect(call.path.split('?')[0]).toBe(
      `/models/${model}:${isStream ? 'streamGenerateContent' : 'generateContent'}`,
    )
    expect(meant(call.body)).toEqual(meant(request))
    expect(call.dropped).toEqual([])
  })
})
