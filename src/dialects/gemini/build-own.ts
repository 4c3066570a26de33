import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import { fieldsOf, isObject, isString } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { Drop } from '../dropped.ts'
import { generationOf } from './build-thinking.ts'
import { NOT_SENT } from './schema.ts'
import { FOREIGN_CALL, isSealedSignature } from './signatures.ts'

/**
 * The body of a caller of this dialect for a provider of it: the caller's own body, unknown fields included, without the
 * gateway's fields. Sealed thoughts of other providers are dropped by name. Addresses whose content was fetched become
 * `inlineData`. Never changes `request`.
 */
export function ownBody(request: InferenceRequest, attempt: Attempt, drop: Drop): JsonObject {
  const body: JsonObject = {}
  for (const [name, value] of Object.entries(request.body)) {
    if (value !== null && !NOT_SENT.has(name)) body[name] = value
  }
  const { isGemini3 } = generationOf(attempt.endpoint.upstreamId)
  const { contents, systemInstruction, tools } = body
  if (Array.isArray(contents)) {
    body.contents = contents.flatMap((content) => forwardedContent(content, isGemini3, drop))
  }
  if (isObject(systemInstruction)) body.systemInstruction = withContents(systemInstruction)
  if (Array.isArray(tools)) body.tools = joinedFunctions(tools)
  if (attempt.outputBound !== undefined) {
    const config = fieldsOf(body.generationConfig)
    body.generationConfig = { ...config, maxOutputTokens: attempt.outputBound }
  }
  return body
}

/** Drops a content that loses all its parts; the caller's own empty contents stay. */
function forwardedContent(content: unknown, isGemini3: boolean, drop: Drop): unknown[] {
  if (!isObject(content) || !Array.isArray(content.parts)) return [content]
  const former: unknown[] = content.parts
  if (content.role !== 'model') return [withContents(content)]
  const hasForeign = former.some((part) => isObject(part) && isSealedSignature(part.thoughtSignature))
  if (!hasForeign) return [withContents(content)]
  drop('contents.parts.thoughtSignature')
  let isFirstCall = true
  const parts = former.flatMap((part) => {
    if (!isObject(part)) return [part]
    // Another model's thoughts: Google accepts only thoughts that it signed.
    if (part.thought === true && !isFilled(part.thoughtSignature)) return []
    const isCall = isObject(part.functionCall)
    const needsSignature = isCall && isFirstCall && isGemini3
    isFirstCall &&= !isCall
    return isSealedSignature(part.thoughtSignature) ? withoutSealed(part, needsSignature) : [part]
  })
  return parts.length === 0 ? [] : [{ ...content, parts: parts.map(withContent) }]
}

const isFilled = (signature: unknown): boolean =>
  isString(signature) && signature !== '' && !isSealedSignature(signature)

function withoutSealed(part: JsonObject, needsSignature: boolean): JsonObject[] {
  const { thoughtSignature: _, ...rest } = part
  if (rest.thought === true || rest.text === '') return []
  return [needsSignature ? { ...rest, thoughtSignature: FOREIGN_CALL } : rest]
}

function withContents(content: JsonObject): JsonObject {
  if (!Array.isArray(content.parts)) return content
  const former: unknown[] = content.parts
  const parts = former.map(withContent)
  return parts.every((part, i) => part === former[i]) ? content : { ...content, parts }
}

const DATA_URL = /^data:([^;,]*);base64,/i

/** Addresses that the gateway fetched, and uploaded files, are data URLs by now. */
function withContent(part: unknown): unknown {
  if (!isObject(part)) return part
  const { fileData, functionResponse, ...rest } = part
  if (isObject(fileData) && isString(fileData.fileUri)) {
    const head = DATA_URL.exec(fileData.fileUri)
    if (!head) return part
    const mimeType = head[1] || fileData.mimeType
    return { ...rest, inlineData: { mimeType, data: fileData.fileUri.slice(head[0].length) } }
  }
  if (!isObject(functionResponse)) return part
  const answered = withContents(functionResponse)
  return answered === functionResponse ? part : { ...part, functionResponse: answered }
}

/** Presets and some callers declare each function in a tool of its own; Google accepts several tools only for search. */
function joinedFunctions(tools: readonly unknown[]): unknown[] {
  const functions = tools.filter(declaresOnly)
  if (functions.length < 2) return [...tools]
  const functionDeclarations = functions.flatMap((tool) => tool.functionDeclarations)
  return [{ functionDeclarations }, ...tools.filter((tool) => !declaresOnly(tool))]
}

const declaresOnly = (tool: unknown): tool is { functionDeclarations: unknown[] } =>
  isObject(tool) && Array.isArray(tool.functionDeclarations) && Object.keys(tool).length === 1
