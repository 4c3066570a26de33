import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { LeaveOut } from './build-parts.ts'
import { generationOf } from './build-thinking.ts'
import { NOT_SENT, unservedOf } from './schema.ts'
import { FOREIGN_CALL, isSealedSignature } from './signatures.ts'

/**
 * The body of a caller of this dialect for a provider of it: what the caller sent, unknown fields at every level
 * included, but for what is the gateway's. Thoughts of other providers, which the gateway had sealed, are taken out and
 * named; addresses whose content was fetched become `inlineData`. Never changes `request`.
 */
export function ownBody(request: InferenceRequest, attempt: Attempt, leaveOut: LeaveOut): JsonObject {
  const body: JsonObject = {}
  for (const [name, value] of Object.entries(request.body)) {
    if (value !== null && !NOT_SENT.has(name)) body[name] = value
  }
  const { isGemini3 } = generationOf(attempt.endpoint.upstreamId)
  const { contents, systemInstruction, tools } = body
  if (Array.isArray(contents)) {
    body.contents = contents.flatMap((content) => forwardedContent(content, isGemini3, leaveOut))
  }
  if (isObject(systemInstruction)) body.systemInstruction = withContents(systemInstruction)
  if (Array.isArray(tools)) body.tools = joinedFunctions(tools)
  if (attempt.outputBound !== undefined) {
    const config = isObject(body.generationConfig) ? body.generationConfig : {}
    body.generationConfig = { ...config, maxOutputTokens: attempt.outputBound }
  }
  for (const name of unservedOf(request.body)) leaveOut(name)
  return body
}

/** A content of which nothing stays goes; one that was empty before is the caller's own. */
function forwardedContent(content: unknown, isGemini3: boolean, leaveOut: LeaveOut): unknown[] {
  if (!isObject(content) || !Array.isArray(content.parts)) return [content]
  const former: unknown[] = content.parts
  if (content.role !== 'model') return [withContents(content)]
  const hasForeign = former.some((part) => isObject(part) && isSealedSignature(part.thoughtSignature))
  if (!hasForeign) return [withContents(content)]
  leaveOut('contents.parts.thoughtSignature')
  let isFirstCall = true
  const parts = former.flatMap((part) => {
    if (!isObject(part)) return [part]
    // Another model's thoughts: Google takes none that it did not sign.
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

/** An address whose content the gateway has fetched, or an uploaded file, holds a data URL. */
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

/** Presets and callers declare functions each in a tool of its own; Google takes several tools only where they search. */
function joinedFunctions(tools: readonly unknown[]): unknown[] {
  const functions = tools.filter(declaresOnly)
  if (functions.length < 2) return [...tools]
  const functionDeclarations = functions.flatMap((tool) => tool.functionDeclarations)
  return [{ functionDeclarations }, ...tools.filter((tool) => !declaresOnly(tool))]
}

const declaresOnly = (tool: unknown): tool is { functionDeclarations: unknown[] } =>
  isObject(tool) && Array.isArray(tool.functionDeclarations) && Object.keys(tool).length === 1
