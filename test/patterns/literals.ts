/** Finds every regular expression literal in a TypeScript source. */
export interface Literal {
  /** 1 is the first. */
  line: number
  source: string
  flags: string
}

/** After these a slash divides; after anything else it begins a pattern. */
const ENDS_VALUE = /[\w$)\]}]$/
const KEYWORDS =
  /(?:^|[^\w$.])(?:return|typeof|case|in|of|do|else|void|delete|instanceof|new|throw|yield|await|default)$/

export function regexLiterals(text: string): Literal[] {
  const found: Literal[] = []
  /** Depths of braces at which a `${` of a template ends. */
  const templates: number[] = []
  let braces = 0
  let before = ''
  let at = 0
  const lineAt = (index: number): number => text.slice(0, index).split('\n').length

  while (at < text.length) {
    const rest = text.slice(at, at + 2)
    const character = text[at] ?? ''
    if (rest === '//') {
      const end = text.indexOf('\n', at)
      at = end < 0 ? text.length : end
    } else if (rest === '/*') {
      at = text.indexOf('*/', at + 2) + 2
    } else if (character === "'" || character === '"') {
      at = endOfString(text, at, character)
      before = ')'
    } else if (character === '`' || (character === '}' && templates.at(-1) === braces)) {
      if (character === '}') {
        templates.pop()
        braces -= 1
      }
      const end = endOfTemplate(text, at + 1)
      if (text[end - 1] === '{') {
        braces += 1
        templates.push(braces)
        before = '{'
      } else before = ')'
      at = end
    } else if (character === '/' && isPattern(before)) {
      const end = endOfPattern(text, at)
      const flags = /^[a-z]*/.exec(text.slice(end, end + 10))?.[0] ?? ''
      found.push({ line: lineAt(at), source: text.slice(at + 1, end - 1), flags })
      at = end + flags.length
      before = ')'
    } else {
      if (character === '{') braces += 1
      if (character === '}') braces -= 1
      if (!/\s/.test(character))
        before = (/\s/.test(text[at - 1] ?? '') ? `${before} ` : before).slice(-20) + character
      at += 1
    }
  }
  return found
}

function isPattern(before: string): boolean {
  return !ENDS_VALUE.test(before) || KEYWORDS.test(before)
}

function endOfString(text: string, start: number, quote: string): number {
  let at = start + 1
  while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1
  return at + 1
}

/** Behind the closing backtick, or behind `${`. */
function endOfTemplate(text: string, start: number): number {
  let at = start
  while (at < text.length) {
    if (text[at] === '`') return at + 1
    if (text.startsWith('${', at)) return at + 2
    at += text[at] === '\\' ? 2 : 1
  }
  return at
}

function endOfPattern(text: string, start: number): number {
  let at = start + 1
  let isClass = false
  while (at < text.length && (isClass || text[at] !== '/')) {
    if (text[at] === '[') isClass = true
    if (text[at] === ']') isClass = false
    at += text[at] === '\\' ? 2 : 1
  }
  return at + 1
}
