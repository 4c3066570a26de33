import type { JsonObject } from '../../core/events.ts'
import { isObject, isString, setField } from '../../core/json.ts'
import { words } from '../../core/words.ts'

/**
 * Google's API is protocol buffers in JSON: each field may be in camelCase or in snake_case, and Google's own clients
 * send both. Bodies are normalized to camelCase once, so that presets, filters and the parser know one name for a field.
 * Unknown names and free-form values (arguments, JSON Schema, labels) are kept.
 */

/** Fields of the API whose snake_case name differs. */
const FIELDS = `
  systemInstruction toolConfig safetySettings generationConfig cachedContent serviceTier
  modelArmorConfig generateContentRequest inlineData fileData functionCall functionResponse
  executableCode codeExecutionResult toolCall toolResponse videoMetadata startOffset endOffset
  mediaResolution thoughtSignature partMetadata mimeType fileUri displayName willContinue
  partialArgs functionDeclarations parametersJsonSchema responseJsonSchema googleSearch
  googleSearchRetrieval codeExecution urlContext computerUse fileSearch googleMaps
  enterpriseWebSearch timeRangeFilter excludeDomains functionCallingConfig allowedFunctionNames
  retrievalConfig latLng languageCode includeServerSideToolInvocations responseMimeType
  responseSchema responseModalities responseFormat candidateCount maxOutputTokens stopSequences
  topP topK presencePenalty frequencyPenalty responseLogprobs enableEnhancedCivicAnswers
  audioTimestamp speechConfig voiceConfig prebuiltVoiceConfig voiceName multiSpeakerVoiceConfig
  speakerVoiceConfigs imageConfig aspectRatio imageSize thinkingConfig thinkingBudget thinkingLevel
  includeThoughts taskType outputDimensionality embedContentConfig autoTruncate anyOf minItems
  maxItems minLength maxLength minProperties maxProperties propertyOrdering additionalProperties
`

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const CAMEL: ReadonlyMap<string, string> = new Map(words(FIELDS).map((name) => [snake(name), name]))

/** Fields whose values have the caller's own names. */
const FREE: ReadonlySet<string> = new Set(
  words(`
  args parametersJsonSchema responseJsonSchema labels partMetadata partialArgs provider plugins
  trace metadata
`),
)

const LISTS: ReadonlySet<string> = new Set(words('contents parts tools functionDeclarations safetySettings'))

/**
 * The body with every field of the API under its camelCase name; if both are set, the camelCase one counts. A plain text
 * as `contents` or `systemInstruction`, and a single entry instead of a list (as Google takes it), are expanded.
 */
export function canonicalBody(body: JsonObject): JsonObject {
  const canonical = renamed(body)
  const { contents, systemInstruction } = canonical
  if (isString(contents)) canonical.contents = [{ role: 'user', parts: [{ text: contents }] }]
  if (isString(systemInstruction)) canonical.systemInstruction = { parts: [{ text: systemInstruction }] }
  return canonical
}

function renamed(object: JsonObject): JsonObject {
  const result: JsonObject = {}
  for (const [name, value] of Object.entries(object)) {
    const known = CAMEL.get(name) ?? name
    if (known !== name && object[known] !== undefined) continue
    setField(result, known, fieldOf(known, value))
  }
  return result
}

function fieldOf(name: string, value: unknown): unknown {
  if (FREE.has(name)) return value
  if (name === 'functionResponse' && isObject(value)) return responseOf(value)
  // Property names are the caller's; their values are schemas.
  if (name === 'properties' && isObject(value)) return mapped(value)
  if (LISTS.has(name) && isObject(value)) return [renamed(value)]
  return within(value)
}

/** The response of a function is free-form; the other parts are the API's. */
function responseOf(value: JsonObject): JsonObject {
  const { response, ...rest } = value
  return response === undefined ? renamed(rest) : { ...renamed(rest), response }
}

function mapped(object: JsonObject): JsonObject {
  const result: JsonObject = {}
  for (const [name, value] of Object.entries(object)) setField(result, name, within(value))
  return result
}

function within(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(within)
  return isObject(value) ? renamed(value) : value
}
