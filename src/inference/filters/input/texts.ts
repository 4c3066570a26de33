import type { JsonObject } from '../../../core/events.ts'
import { isObject } from '../../../core/json.ts'
import { words } from '../../../core/words.ts'
import { inFile, isSealed, type Replace } from './text-file.ts'

/** Definitions of tools and formats. Only their descriptions are filtered, not names, schemas and credentials. */
const DEFINITIONS: readonly string[] = words(
  'tools functions response_format text output_config output_format generationConfig',
)

/** The top-level fields with model input, in all dialects and on all inference routes. */
const ROOTS = [
  'messages',
  'contents',
  'systemInstruction',
  'input',
  'prompt',
  'negative_prompt',
  'system',
  'instructions',
  'prediction',
  'suffix',
  'query',
  'documents',
  ...DEFINITIONS,
]
/** Fields without a role that the application writes, not the user. */
const NOT_OF_USERS: readonly string[] = ['system', 'systemInstruction', 'instructions', 'prediction']

/** Fields with ids, URLs, file contents and protocol values, which are not filtered. */
const NO_TEXT = new Set(
  words(`
  type role id object status name model url image image_url video_url audio_url file_url fileUri
  input_audio format detail media_type mime_type mimeType signature thoughtSignature encrypted_content
  cache_control server_label phase
`),
)
/** Types of reasoning, in all dialects. */
const THOUGHTS = /^(?:thinking|redacted_thinking|reasoning(?:\..*)?)$/
/** Reasoning that its provider signed or sealed cannot be changed. Unsigned reasoning may come from the caller. */
const isSealedThought = ({
  type,
  signature,
  encrypted_content: sealed,
  thought,
  thoughtSignature,
}: JsonObject): boolean =>
  (thought === true && isFilled(thoughtSignature)) ||
  (typeof type === 'string' && THOUGHTS.test(type) && (isFilled(signature) || isFilled(sealed)))
const isFilled = (value: unknown): boolean => typeof value === 'string' && value !== ''
/** Roles whose `name` is model input. */
const NAMED_ROLES: readonly unknown[] = ['user', 'system', 'developer', 'assistant']
/** Arguments and results of calls, in all dialects. Their field names are the caller's, so every field is filtered. */
const ARGUMENTS = new Set(['arguments', 'input', 'output'])

/** Replaces the texts of a body. Returns the same body if none changed. */
export function replaceTexts(body: JsonObject, replace: Replace): JsonObject {
  let changed = body
  for (const root of ROOTS) {
    const value = body[root]
    if (value === undefined || value === null) continue
    const isUser = !NOT_OF_USERS.includes(root)
    const next = inRoot(root, value, isUser, replace)
    if (next !== value) changed = { ...changed, [root]: next }
  }
  return changed
}

function inRoot(root: string, value: unknown, isUser: boolean, replace: Replace): unknown {
  if (DEFINITIONS.includes(root)) return inDefinition(value, replace)
  // The field names of documents are the caller's, so every field is filtered.
  return root === 'documents' ? inValues(value, isUser, replace) : inContent(value, isUser, replace)
}

function inContent(value: unknown, isUser: boolean, replace: Replace): unknown {
  if (typeof value === 'string') return isSealed(value) ? value : replace(value, isUser)
  if (Array.isArray(value)) return mapped(value, (item) => inContent(item, isUser, replace))
  if (!isObject(value)) return value
  const { type, role } = value
  if (isSealedThought(value)) return value
  const byUser = isUser && isByUser(type, role)
  return mappedFields(value, (name, field) => {
    if (ARGUMENTS.has(name) && typeof type === 'string' && !Array.isArray(field))
      return inArguments(field, byUser, replace)
    if (name === 'variables') return inValues(field, byUser, replace)
    if (name === 'file_data') return inFile(field, byUser, replace)
    if (name === 'function') return inCall(field, replace)
    if (name === 'functionCall' || name === 'functionResponse') return inGoogleCall(field, replace)
    if (name === 'inlineData') return inInline(field, byUser, replace)
    if (name === 'name' && NAMED_ROLES.includes(role)) return inContent(field, byUser, replace)
    // Plain text in Anthropic's text documents; base64 everywhere else.
    if (name === 'data') return type === 'text' ? inContent(field, byUser, replace) : field
    if (NO_TEXT.has(name) || name.endsWith('_id')) return field
    return inContent(field, byUser, replace)
  })
}

/** False for tool calls and results, which the user did not write. */
const isByUser = (type: unknown, role: unknown): boolean =>
  (role === undefined || role === 'user') &&
  !(typeof type === 'string' && /(?:_call|_output|_result|tool_use)$/.test(type))

/** `function: {name, arguments}` of a call in chat. */
const inCall = (value: unknown, replace: Replace): unknown =>
  isObject(value)
    ? mappedFields(value, (name, field) =>
        name === 'arguments' ? inArguments(field, false, replace) : field,
      )
    : value

/** Arguments and results of Google's functions are objects with the caller's field names. */
const inGoogleCall = (value: unknown, replace: Replace): unknown =>
  isObject(value)
    ? mappedFields(value, (name, field) => {
        if (name === 'args' || name === 'response') return inValues(field, false, replace)
        return name === 'parts' ? inContent(field, false, replace) : field
      })
    : value

/** Filters inline file data like a data URL. */
function inInline(value: unknown, isUser: boolean, replace: Replace): unknown {
  if (!isObject(value) || typeof value['data'] !== 'string') return value
  if (/^(?:image|audio|video)\//i.test(String(value['mimeType']))) return value
  const begin = `data:${String(value['mimeType'])};base64,`
  const next = inFile(begin + value['data'], isUser, replace)
  if (typeof next !== 'string' || next === begin + value['data']) return value
  return { ...value, data: next.slice(begin.length) }
}

/** JSON in a string is filtered value by value, so that it stays valid. */
function inArguments(value: unknown, isUser: boolean, replace: Replace): unknown {
  if (typeof value !== 'string') return inValues(value, isUser, replace)
  if (!/^\s*[[{]/.test(value)) return inContent(value, isUser, replace)
  try {
    const parsed: unknown = JSON.parse(value)
    const next = inValues(parsed, isUser, replace)
    return next === parsed ? value : JSON.stringify(next)
  } catch {
    return replace(value, isUser)
  }
}

/** Smaller numbers are not sensitive. */
const LEAST_NUMBER = 1e6

function inValues(value: unknown, isUser: boolean, replace: Replace): unknown {
  if (typeof value === 'string') return isSealed(value) ? value : replace(value, isUser)
  if (typeof value === 'number' && Math.abs(value) >= LEAST_NUMBER) {
    const text = String(value)
    const next = replace(text, isUser)
    return next === text ? value : next
  }
  if (Array.isArray(value)) return mapped(value, (item) => inValues(item, isUser, replace))
  if (!isObject(value)) return value
  // The image itself is skipped; fields beside it are scanned.
  if (value['type'] === 'image' || value['type'] === 'input_image') return inContent(value, isUser, replace)
  return mappedFields(value, (_, field) => inValues(field, isUser, replace))
}

function inDefinition(value: unknown, replace: Replace): unknown {
  if (Array.isArray(value)) return mapped(value, (item) => inDefinition(item, replace))
  if (!isObject(value)) return value
  return mappedFields(value, (name, field) =>
    name === 'description' && typeof field === 'string'
      ? replace(field, false)
      : inDefinition(field, replace),
  )
}

function mapped(items: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  let next: unknown[] | null = null
  for (const [index, item] of items.entries()) {
    const changed = change(item)
    if (changed === item) continue
    next ??= [...items]
    next[index] = changed
  }
  return next ?? items
}

function mappedFields(value: JsonObject, change: (name: string, field: unknown) => unknown): JsonObject {
  let next: JsonObject | null = null
  for (const [name, field] of Object.entries(value)) {
    const changed = change(name, field)
    if (changed === field) continue
    next ??= { ...value }
    next[name] = changed
  }
  return next ?? value
}
