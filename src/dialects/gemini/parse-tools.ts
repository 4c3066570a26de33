import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined, isObject, isString } from '../../core/json.ts'
import type { FunctionTool, Tool, ToolChoice } from '../../core/request.ts'
import { words } from '../../core/words.ts'
import { quoted } from '../mismatch.ts'
import { formatOf } from '../strict-schema.ts'
import { shortName } from '../tool-names.ts'
import type { Keep } from './parse-parts.ts'
import type { GeminiBody } from './schema.ts'

const DECLARATION = new Set(['name', 'description', 'parameters', 'parametersJsonSchema'])

/**
 * Functions in neutral form; Google's own tools unchanged, each with its name as `type`. Functions that the choice does
 * not allow are left out.
 */
export function readTools({ tools, toolConfig }: GeminiBody, keep: Keep): Tool[] {
  const read: Tool[] = []
  const names = new Set<string>()
  const allowed = allowedNames(toolConfig)
  for (const [i, { functionDeclarations, ...others }] of (tools ?? []).entries()) {
    for (const [j, declared] of (functionDeclarations ?? []).entries()) {
      const { name } = declared
      if (names.has(name)) {
        throw badRequest(
          `must be unique; ${quoted(name)} is declared twice`,
          `tools[${i}].functionDeclarations[${j}].name`,
        )
      }
      names.add(name)
      keep.rest(declared, DECLARATION, 'tools.functionDeclarations.')
      if (allowed === null || allowed.has(name)) read.push(functionOf(declared))
    }
    // A tool of the gateway, in the form of all other dialects.
    if (others.type) {
      read.push({ type: 'other', data: { ...others } })
      continue
    }
    for (const [type, value] of Object.entries(others)) {
      if (isObject(value)) read.push({ type: 'other', data: { type, [type]: value } })
    }
  }
  for (const name of allowed ?? []) {
    if (!names.has(name)) {
      throw badRequest(
        `must be names of functions that are declared; ${quoted(name)} is not`,
        'toolConfig.functionCallingConfig.allowedFunctionNames',
      )
    }
  }
  return read
}

type Declared = NonNullable<NonNullable<GeminiBody['tools']>[number]['functionDeclarations']>[number]

const functionOf = ({ name, description, parameters, parametersJsonSchema }: Declared): FunctionTool =>
  defined({
    type: 'function',
    name: shortName(name),
    description: description ?? undefined,
    parameters: parametersJsonSchema ?? (parameters ? neutralSchema(parameters) : undefined),
  })

const modeOf = (toolConfig: GeminiBody['toolConfig']): string =>
  toolConfig?.functionCallingConfig?.mode?.toUpperCase() ?? 'AUTO'

/** The names count only in the modes ANY and VALIDATED. */
function allowedNames(toolConfig: GeminiBody['toolConfig']): ReadonlySet<string> | null {
  const names = toolConfig?.functionCallingConfig?.allowedFunctionNames
  const mode = modeOf(toolConfig)
  return names && names.length > 0 && (mode === 'ANY' || mode === 'VALIDATED') ? new Set(names) : null
}

const CHOICE = new Set(['mode', 'allowedFunctionNames'])

/** ANY is OpenAI's `required`; with one name, that function. */
export function readToolChoice({ toolConfig }: GeminiBody, keep: Keep): ToolChoice | undefined {
  keep.rest(toolConfig ?? {}, new Set(['functionCallingConfig']), 'toolConfig.')
  const config = toolConfig?.functionCallingConfig
  if (!config) return undefined
  keep.rest(config, CHOICE, 'toolConfig.functionCallingConfig.')
  const mode = modeOf(toolConfig)
  if (mode === 'NONE') return 'none'
  if (mode === 'VALIDATED') keep('toolConfig.functionCallingConfig.mode')
  if (mode !== 'ANY') return config.mode ? 'auto' : undefined
  const [name, ...more] = allowedNames(toolConfig) ?? []
  return name !== undefined && more.length === 0 ? { type: 'function', name: shortName(name) } : 'required'
}

/** `responseSchema` in Google's words, `responseJsonSchema` in JSON Schema's; both with JSON as the type. */
export function readFormat({ generationConfig }: GeminiBody, keep: Keep): JsonObject | undefined {
  const { responseMimeType, responseSchema, responseJsonSchema } = generationConfig ?? {}
  const type = responseMimeType ?? undefined
  if (type !== undefined && type !== 'application/json') {
    if (type !== 'text/plain') keep('generationConfig.responseMimeType')
    return undefined
  }
  const schema = responseJsonSchema ?? (responseSchema ? neutralSchema(responseSchema) : undefined)
  if (schema !== undefined) return formatOf(schema)
  return type === undefined ? undefined : { type: 'json_object' }
}

/**
 * Google's Schema → JSON Schema, for providers of other dialects. Google writes types in
 * capitals, null as `nullable`, and 64-bit integers as strings. Other keywords are the same, or mean nothing to a model.
 */
function neutralSchema(schema: unknown): JsonObject {
  if (!isObject(schema)) return {}
  const out: JsonObject = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === null || value === undefined || SILENT.has(keyword)) continue
    out[keyword] = fieldOf(keyword, value)
  }
  return schema.nullable === true ? orNull(out) : out
}

const SILENT: ReadonlySet<string> = new Set(['nullable', 'propertyOrdering', 'example'])
const COUNTS: ReadonlySet<string> = new Set(
  words('minItems maxItems minLength maxLength minProperties maxProperties'),
)

function fieldOf(keyword: string, value: unknown): unknown {
  if (keyword === 'type') return isString(value) ? value.toLowerCase() : value
  if (COUNTS.has(keyword)) return isString(value) && /^\d{1,15}$/.test(value) ? Number(value) : value
  if (keyword === 'items' || keyword === 'additionalProperties') {
    return isObject(value) ? neutralSchema(value) : value
  }
  if (keyword === 'anyOf') return Array.isArray(value) ? value.map(neutralSchema) : value
  if (keyword === 'properties' || keyword === 'defs' || keyword === '$defs') {
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, neutralSchema(inner)]))
      : value
  }
  return value
}

function orNull(schema: JsonObject): JsonObject {
  const { type, enum: words } = schema
  const nullable = Array.isArray(words) && !words.includes(null) ? { enum: [...words, null] } : {}
  if (isString(type)) return { ...schema, ...nullable, type: [type, 'null'] }
  return Array.isArray(schema.anyOf) ? { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] } : schema
}
