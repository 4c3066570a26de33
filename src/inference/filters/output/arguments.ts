import type { Piece } from '../../../core/content-filter.ts'
import { type Scan, type Scanners, textOf } from '../scanners.ts'

/**
 * The arguments of a tool call, as they arrive. JSON is scanned string by string without its escapes, so that it stays
 * JSON; a number with a replaced part becomes a string. Other input (the free text of custom tools) is scanned as one
 * text. Unchanged parts keep their bytes.
 */
export interface ArgumentsScan {
  push(json: string): string
  end(): string
}

/** Smaller numbers are not sensitive, as on input. */
const LEAST_NUMBER = 1e6
/** A longer token outside of strings is not valid JSON, and is scanned as text. */
const LONGEST_TOKEN = 256
const STRUCTURE = /[\s{}[\],:"]/

type State = 'begin' | 'free' | 'between' | 'string'

/** Returns nothing after a block. */
export function openArguments(scanners: Pick<Scanners, 'open' | 'isBlocked'>): ArgumentsScan {
  const { open } = scanners
  let state: State = 'begin'
  let free: Scan | null = null
  let text: StringScan | null = null
  let token = ''

  function between(json: string, from: number): { passed: string; at: number } {
    let passed = ''
    for (let at = from; at < json.length; at++) {
      const character = json.charAt(at)
      if (!STRUCTURE.test(character)) {
        token += character
        if (token.length > LONGEST_TOKEN) passed += scannedToken()
        continue
      }
      passed += scannedToken()
      if (scanners.isBlocked) break
      passed += character
      if (character !== '"') continue
      state = 'string'
      text = openString(scanners)
      return { passed, at: at + 1 }
    }
    return { passed, at: json.length }
  }

  function scannedToken(): string {
    const own = token
    token = ''
    if (own === '' || Math.abs(Number(own)) < LEAST_NUMBER || /^(?:true|false|null)$/.test(own)) return own
    const scan = open()
    const pieces = [...scan.push(own), ...scan.end()]
    return pieces.every(({ kind }) => kind === 'kept') ? own : JSON.stringify(textOf(pieces))
  }

  function push(json: string): string {
    let passed = ''
    for (let at = 0; at < json.length && !scanners.isBlocked; ) {
      if (state === 'begin') {
        const first = json.slice(at).search(/\S/)
        if (first === -1) return passed + json.slice(at)
        state = /[{[]/.test(json.charAt(at + first)) ? 'between' : 'free'
      }
      if (state === 'free') {
        free ??= open()
        return passed + textOf(free.push(json.slice(at)))
      }
      if (state === 'string' && text !== null) {
        const read = text.push(json, at)
        passed += read.passed
        at = read.at
        if (read.isEnd) state = 'between'
        continue
      }
      const read = between(json, at)
      passed += read.passed
      at = read.at
    }
    return passed
  }

  return {
    push,
    end() {
      if (state === 'free') return free === null ? '' : textOf(free.end())
      if (state === 'string' && text !== null) return text.end()
      return scannedToken()
    },
  }
}

interface StringScan {
  /** Reads up to the closing quotation mark, or to the end of the piece. */
  push(json: string, from: number): { passed: string; at: number; isEnd: boolean }
  /** The JSON ended within the string. */
  end(): string
}

const SPECIAL = /["\\]/g
const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** The JSON text of a string that has not been released, indexed by the decoded string's characters. */
function createRawText() {
  let raw = ''
  /** Positions of escaped characters, with the lengths of their escapes. */
  let escapes: { at: number; length: number }[] = []
  /** The number of `escapes` that have been taken. */
  let taken = 0
  /** The numbers of characters taken and added. */
  let gone = 0
  let come = 0
  return {
    add(own: string, json: string): string {
      if (json.length !== own.length) escapes.push({ at: come, length: json.length })
      raw += json
      come += own.length
      return own
    },
    take(length: number): string {
      let rawLength = length
      for (let next = escapes[taken]; next && next.at < gone + length; next = escapes[taken]) {
        rawLength += next.length - 1
        taken++
      }
      if (taken === escapes.length) {
        escapes = []
        taken = 0
      }
      gone += length
      const own = raw.slice(0, rawLength)
      raw = raw.slice(rawLength)
      return own
    },
  }
}

function openString(scanners: Pick<Scanners, 'open' | 'isBlocked'>): StringScan {
  const scan = scanners.open()
  const unsent = createRawText()
  /** An incomplete escape. */
  let broken = ''

  function written(pieces: readonly Piece[]): string {
    let passed = ''
    for (const { kind, text, length } of pieces) {
      const own = unsent.take(length)
      passed += kind === 'kept' ? own : JSON.stringify(text).slice(1, -1)
    }
    return passed
  }

  /** The text of an escape; '' while it is incomplete. */
  function escaped(character: string): string {
    broken += character
    const kind = broken.charAt(1)
    if (kind === '' || (kind === 'u' && broken.length < 6)) return ''
    const json = broken
    broken = ''
    const code = Number.parseInt(json.slice(2), 16)
    if (kind === 'u') return unsent.add(Number.isNaN(code) ? json : String.fromCharCode(code), json)
    return unsent.add(ESCAPES[kind] ?? kind, json)
  }

  return {
    push(json, from) {
      let own = ''
      let at = from
      let isEnd = false
      while (at < json.length && !isEnd) {
        if (broken !== '') {
          own += escaped(json.charAt(at++))
          continue
        }
        SPECIAL.lastIndex = at
        const next = SPECIAL.exec(json)?.index ?? json.length
        if (next > at) own += unsent.add(json.slice(at, next), json.slice(at, next))
        at = next + 1
        if (json.charAt(next) === '\\') broken = '\\'
        else isEnd = next < json.length
      }
      let passed = written(scan.push(own))
      if (isEnd) passed += written(scan.end())
      if (isEnd && !scanners.isBlocked) passed += '"'
      return { passed, at: Math.min(at, json.length), isEnd }
    },
    end: () => written(scan.end()) + broken,
  }
}
