import { isObject } from '../../src/core/json.ts'
import type { Gateway } from '../gateway.ts'

/** A caller of each dialect, who asks for JSON by a schema and reads the text of the answer. */
export interface DialectCaller {
  readonly dialect: string
  /** `format`: a JSON schema; undefined: any text will do. */
  ask(
    model: string,
    question: string,
    stream: boolean,
    format?: Readonly<Record<string, unknown>>,
  ): { path: string; body: Record<string, unknown> }
  /** The text in a reply, or in the events of a stream. */
  textOf(json: readonly unknown[]): string
}

const at = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (Array.isArray(inner) ? inner[Number(key)] : isObject(inner) ? inner[key] : undefined),
    value,
  )
const text = (value: unknown): string => (typeof value === 'string' ? value : '')

const chat: DialectCaller = {
  dialect: 'chat',
  ask: (model, question, stream, schema) => ({
    path: '/chat/completions',
    body: {
      model,
      stream,
      messages: [{ role: 'user', content: question }],
      ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }),
    },
  }),
  textOf: (json) =>
    json
      .map((each) =>
        text(at(each, 'choices', 0, 'message', 'content') ?? at(each, 'choices', 0, 'delta', 'content')),
      )
      .join(''),
}

const responses: DialectCaller = {
  dialect: 'responses',
  ask: (model, question, stream, schema) => ({
    path: '/responses',
    body: {
      model,
      stream,
      input: question,
      ...(schema && { text: { format: { type: 'json_schema', name: 'answer', schema } } }),
    },
  }),
  textOf: (json) =>
    json
      .map((each) =>
        at(each, 'type') === undefined || at(each, 'object') === 'response'
          ? text(at(each, 'output', 0, 'content', 0, 'text'))
          : at(each, 'type') === 'response.output_text.delta'
            ? text(at(each, 'delta'))
            : '',
      )
      .join(''),
}

const messages: DialectCaller = {
  dialect: 'messages',
  ask: (model, question, stream, schema) => ({
    path: '/messages',
    body: {
      model,
      stream,
      max_tokens: 100,
      messages: [{ role: 'user', content: question }],
      ...(schema && { output_config: { format: { type: 'json_schema', schema } } }),
    },
  }),
  textOf: (json) =>
    json.map((each) => text(at(each, 'content', 0, 'text') ?? at(each, 'delta', 'text'))).join(''),
}

const gemini: DialectCaller = {
  dialect: 'gemini',
  ask: (model, question, stream, schema) => ({
    path: `/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: {
      contents: [{ role: 'user', parts: [{ text: question }] }],
      ...(schema && {
        generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
      }),
    },
  }),
  textOf: (json) =>
    json.map((each) => text(at(each, 'candidates', 0, 'content', 'parts', 0, 'text'))).join(''),
}

export const CALLERS: readonly DialectCaller[] = [chat, responses, messages, gemini]

/** The JSON of a reply: one object, or the data of each event. */
export function jsonIn(body: string): unknown[] {
  const data = [...body.matchAll(/^data: (.+)$/gm)]
    .map(([, json]) => json ?? '')
    .filter((json) => json !== '[DONE]')
  return (data.length > 0 ? data : [body]).map((json): unknown => JSON.parse(json))
}

/** The stages of `pipeline` in the metadata of a reply, wherever its dialect has them. */
export function pipelineIn(json: unknown): Record<string, unknown>[] {
  if (Array.isArray(json)) return json.flatMap(pipelineIn)
  if (!isObject(json)) return []
  const stages = at(json['service_metadata'], 'pipeline')
  if (Array.isArray(stages)) return stages.filter(isObject)
  return Object.values(json).flatMap(pipelineIn)
}

export async function askAs(
  gateway: Gateway,
  caller: DialectCaller,
  question: string,
  {
    model = 'chat',
    stream = false,
    schema,
    more = {},
  }: { model?: string; stream?: boolean; schema?: Record<string, unknown>; more?: Record<string, unknown> },
) {
  const { path, body } = caller.ask(model, question, stream, schema)
  const response = await gateway.call(path, { ...body, ...more }, { 'x-service-metadata': 'enabled' })
  const raw = await response.text()
  const json = jsonIn(raw)
  return { status: response.status, raw, json, text: caller.textOf(json), pipeline: pipelineIn(json) }
}
