import { isObject } from '../values.ts'

/**
 * The text of a chunk that was nothing but one text delta, with the place of the delta cut out. Most chunks of a
 * stream differ in that place alone (and in their padding), so the next one need not be parsed.
 */
export interface TextTemplate {
  readonly prefix: string
  /** Behind the delta; with padding: up to and with the padding's opening quote. */
  readonly suffix: string
  /** Behind the padding; undefined where there is none. */
  readonly end: string | undefined
}

const CONTENT = /"content"\s*:\s*"/g
/** `obfuscation` is OpenAI's and Azure's padding, `p` Mistral's: letters that hide the length of a token. */
const PADDING = /,\s*"(obfuscation|p)"\s*:\s*"([A-Za-z0-9]*)"/
/**
 * The inside of a JSON string that has none of these says itself. Searched for, not matched from end to end: the
 * engine skips through a long text eight times as fast.
 */
const NOT_PLAIN = /["\\\u0000-\u001f]/
const STRING_END = /["\\]/g
const PADDING_TEXT = /^[A-Za-z0-9]*$/

/** Not the beginning of any text that a model is likely to write, and free of escapes. */
const PROBE = '\u2063probe\u2063'

/**
 * `data` was parsed and is nothing but the delta `text` of choice 0. The cut is proven by parsing the chunk again
 * with another delta (and padding) in its place; undefined where it cannot be made.
 */
export function cutTemplate(
  data: string,
  text: string,
): { template: TextTemplate; json: string } | undefined {
  CONTENT.lastIndex = 0
  for (let match = CONTENT.exec(data); match; match = CONTENT.exec(data)) {
    const from = CONTENT.lastIndex
    const to = endOfString(data, from)
    if (to === -1) return undefined
    const json = data.slice(from, to)
    if (readJsonString(json) !== text) continue
    const template = splitPadding(data.slice(0, from), data.slice(to))
    if (isProven(template)) return { template, json }
  }
  return undefined
}

/** The JSON text of the delta when `data` is the template with another delta, not empty; else undefined. */
export function matchTemplate({ prefix, suffix, end }: TextTemplate, data: string): string | undefined {
  if (!data.startsWith(prefix)) return undefined
  if (end === undefined) {
    const to = data.length - suffix.length
    return to > prefix.length && data.endsWith(suffix) ? data.slice(prefix.length, to) : undefined
  }
  if (!data.endsWith(end)) return undefined
  const at = data.lastIndexOf(suffix, data.length - end.length - suffix.length)
  if (at <= prefix.length) return undefined
  const padding = data.slice(at + suffix.length, data.length - end.length)
  return PADDING_TEXT.test(padding) ? data.slice(prefix.length, at) : undefined
}

/** The string that this inside of a JSON string says; undefined where it is not one. */
export function readJsonString(json: string): string | undefined {
  if (!NOT_PLAIN.test(json)) return json
  try {
    const value: unknown = JSON.parse(`"${json}"`)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

function endOfString(data: string, from: number): number {
  STRING_END.lastIndex = from
  for (let match = STRING_END.exec(data); match; match = STRING_END.exec(data)) {
    if (match[0] === '"') return match.index
    STRING_END.lastIndex = match.index + 2
  }
  return -1
}

function splitPadding(prefix: string, suffix: string): TextTemplate {
  const match = PADDING.exec(suffix)
  if (!match) return { prefix, suffix, end: undefined }
  const closing = match.index + match[0].length - 1
  const opening = closing - (match[2]?.length ?? 0)
  return { prefix, suffix: suffix.slice(0, opening), end: suffix.slice(closing) }
}

function isProven({ prefix, suffix, end }: TextTemplate): boolean {
  const chunk: unknown = JSON.parse(`${prefix}${PROBE}${suffix}${end === undefined ? '' : `probe${end}`}`)
  if (!isObject(chunk) || !Array.isArray(chunk['choices'])) return false
  const choice: unknown = chunk['choices'][0]
  const delta = isObject(choice) ? choice['delta'] : undefined
  if (!isObject(delta) || delta['content'] !== PROBE) return false
  return end === undefined || chunk['obfuscation'] === 'probe' || chunk['p'] === 'probe'
}
