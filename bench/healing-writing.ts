/** How a value is written: JSON by default. */
export interface Style {
  readonly quote: string
  readonly keyQuote: string
  readonly comma: string
  readonly colon: string
  /** Spaces of each level; 0: one line. */
  readonly indent: number
  readonly trailingComma: boolean
  readonly comment: string
  readonly literals: 'json' | 'python'
  readonly escapes: 'all' | 'no newlines' | 'no quotes' | 'wrong'
  /** Texts get a second line. */
  readonly longText: boolean
  /** Texts get a word in quotes. */
  readonly quotedText: boolean
  /** Texts get a backslash. */
  readonly wrongText: boolean
  /** Texts get this at their end. */
  readonly said: string
  /** Lists end with an ellipsis. */
  readonly ellipsis: boolean
  /** Texts are arguments of constructors. */
  readonly calls: boolean
}

const JSON_STYLE: Style = {
  quote: '"',
  keyQuote: '',
  comma: ',',
  colon: ':',
  indent: 0,
  trailingComma: false,
  comment: '',
  literals: 'json',
  escapes: 'all',
  longText: false,
  quotedText: false,
  wrongText: false,
  said: '',
  ellipsis: false,
  calls: false,
}

const CLOSING: Readonly<Record<string, string>> = { '“': '”' }

export function written(value: unknown, change: Partial<Style>): string {
  const style = { ...JSON_STYLE, keyQuote: change.quote ?? '"', ...change }
  return write(value, style, 1)
}

function write(value: unknown, style: Style, level: number): string {
  if (typeof value === 'string') return writeText(value, style)
  if (Array.isArray(value)) {
    const items = value.map((item) => write(item, style, level + 1))
    return around('[', style.ellipsis && items.length > 0 ? [...items, '...'] : items, ']', style, level)
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([key, inner]) =>
        `${style.keyQuote}${key}${CLOSING[style.keyQuote] ?? style.keyQuote}${style.colon}${write(inner, style, level + 1)}`,
    )
    return around('{', members, '}', style, level)
  }
  const plain = JSON.stringify(value)
  if (style.literals === 'json') return plain
  return { true: 'True', false: 'False', null: 'None' }[plain] ?? plain
}

function around(open: string, parts: readonly string[], close: string, style: Style, level: number): string {
  if (parts.length === 0) return open + close
  const line = style.indent === 0 ? '' : `\n${' '.repeat(style.indent * level)}`
  const last = style.indent === 0 ? '' : `\n${' '.repeat(style.indent * (level - 1))}`
  const comment = style.comment === '' ? '' : ` ${style.comment}`
  const body = parts.map((part, i) => {
    const comma = i < parts.length - 1 || style.trailingComma ? style.comma : ''
    return `${line}${part}${comma}${comment}`
  })
  return `${open}${body.join('')}${last}${close}`
}

/** What a style adds to a text. Words without a space may be of a list that the schema has. */
function added(value: string, { longText, quotedText, wrongText, said }: Style): string {
  if (!value.includes(' ')) return value
  const line = longText ? '\nSecond line.' : ''
  const quoted = quotedText ? ' called "this one" by some' : ''
  const wrong = wrongText ? " it's 100\\% of C:\\dir" : ''
  return `${value}${line}${quoted}${wrong}${said === '' ? '' : ` ${said}`}`
}

/** Undoes escapes of JSON, as models forget or confuse them. */
const ESCAPES: Readonly<Record<Style['escapes'], (json: string) => string>> = {
  all: (json) => json,
  'no newlines': (json) => json.replaceAll('\\n', '\n'),
  'no quotes': (json) => json.replaceAll('\\"', '"'),
  wrong: (json) => json.replaceAll("it's", "it\\'s").replaceAll('\\\\%', '\\%').replaceAll('\\\\d', '\\d'),
}

function writeText(value: string, style: Style): string {
  const { quote, escapes } = style
  const json = JSON.stringify(added(value, style)).slice(1, -1)
  const inner = quote === '"' ? json : json.replaceAll('\\"', '"').replaceAll(quote, `\\${quote}`)
  const quoted = `${quote}${ESCAPES[escapes](inner)}${CLOSING[quote] ?? quote}`
  return style.calls ? `String(${quoted})` : quoted
}

export const cutAt = (text: string, part: number): string => text.slice(0, Math.floor(text.length * part))

/** What is there is what was there: members and items of the whole, the last text perhaps cut. */
export function isPartOf(part: unknown, whole: unknown): boolean {
  if (typeof part === 'string' && typeof whole === 'string') return whole.startsWith(part)
  if (typeof part === 'number' && typeof whole === 'number') return String(whole).startsWith(String(part))
  if (Array.isArray(part) && Array.isArray(whole)) {
    return part.length <= whole.length && part.every((item, i) => isPartOf(item, whole[i]))
  }
  if (isRecord(part) && isRecord(whole)) {
    return Object.entries(part).every(
      ([key, inner]) => Object.hasOwn(whole, key) && isPartOf(inner, whole[key]),
    )
  }
  return part === whole
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
