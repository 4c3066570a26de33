import { UpstreamError } from '../core/errors.ts'

/** One dispatched event: its name ('' where none was given) and its `data:` lines, joined by line feeds. */
export interface SseEvent {
  readonly name: string
  readonly data: string
}

/** Turns bytes, cut anywhere, into events. One for each stream. */
export interface StreamParser {
  /** The events that these bytes complete, in order. Throws `UpstreamError` `malformed` beyond the cap. */
  push(bytes: Uint8Array): SseEvent[]
  /**
   * The body ended cleanly. What its last lines hold without the final blank line is an event too: some servers
   * leave it out (and a half of one is for the consumer to recognise).
   */
  end(): SseEvent[]
}

export interface SseParser extends StreamParser {
  /** `push` for text that is already decoded. */
  pushText(text: string): SseEvent[]
}

/**
 * As much as a whole reply may have: an image comes in one event, in base64 (more than 8 MB: openai-node#2433, 2026),
 * and a finished response is told once more as a whole. A line without an end must not fill the memory.
 */
export const MAX_EVENT_CHARACTERS = 32 * 1024 * 1024

/** Lines of one event: each is a link of the text, and no server writes JSON of so many. */
export const MAX_EVENT_LINES = 100_000

const SPACE = 32
const LF = 10

/**
 * Server-sent events as WHATWG HTML §9.2.6 reads them: LF, CRLF or CR ends a line, a leading byte order mark and
 * comments are skipped, `id:` and `retry:` too. More than the standard: the final blank line may be missing,
 * blanks before a field's name are forgiven, and bare JSON between events (an error that a server wrote past its
 * own framing) is an event, because to skip it would make a broken stream look whole.
 */
export function createSseParser(maxEventCharacters = MAX_EVENT_CHARACTERS): SseParser {
  const decoder = new TextDecoder()
  let events: SseEvent[] = []
  /** A line whose end has not come. */
  let partial = ''
  let name = ''
  let data: string | null = null
  let lines = 0
  /** Bare JSON under way: its lines are taken as they are. */
  let isBare = false
  let endedInCr = false

  function dispatch(): void {
    if (data !== null || name !== '') events.push({ name, data: data ?? '' })
    name = ''
    data = null
    lines = 0
    isBare = false
  }

  function append(value: string): void {
    data = data === null ? value : `${data}\n${value}`
    if (data.length > maxEventCharacters) throw tooLong(maxEventCharacters)
    if (++lines > MAX_EVENT_LINES)
      throw new UpstreamError('malformed', `an event of the stream has more than ${MAX_EVENT_LINES} lines`)
  }

  /** Reads the line where it stands: most come whole, and are cut out of their text once. */
  function takeLine(text: string, from: number, to: number): void {
    if (from === to) {
      dispatch()
    } else if (text.startsWith('data:', from)) {
      if (isBare) dispatch()
      append(valueBetween(text, from + 5, to))
    } else if (isBare) {
      append(text.slice(from, to))
    } else if (text.startsWith('event:', from)) {
      name = valueBetween(text, from + 6, to)
    } else {
      takeOtherLine(text.slice(from, to))
    }
  }

  function takeOtherLine(line: string): void {
    const trimmed = line.trimStart()
    if (trimmed.startsWith('{') || trimmed.startsWith('[')) {
      if (data !== null) dispatch()
      isBare = true
      append(line)
    } else if (trimmed !== line) {
      if (trimmed !== '') takeLine(trimmed, 0, trimmed.length)
    } else {
      takeField(line)
    }
  }

  function takeField(line: string): void {
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : valueBetween(line, colon + 1, line.length)
    if (field === 'event') name = value
    else if (field === 'data') append(value)
  }

  function takeEnded(text: string, from: number, to: number): void {
    if (partial === '') {
      takeLine(text, from, to)
      return
    }
    const line = partial + text.slice(from, to)
    partial = ''
    takeLine(line, 0, line.length)
  }

  /** Only the new text is searched for line ends, so a long line that comes byte by byte costs no more. */
  function split(text: string): void {
    let from = 0
    if (endedInCr && text !== '') {
      endedInCr = false
      if (text.charCodeAt(0) === LF) from = 1
    }
    let cr = text.indexOf('\r', from)
    let lf = text.indexOf('\n', from)
    while (cr !== -1 || lf !== -1) {
      const isCr = cr !== -1 && (lf === -1 || cr < lf)
      const at = isCr ? cr : lf
      takeEnded(text, from, at)
      from = at + 1
      if (isCr) {
        if (from === text.length) endedInCr = true
        else if (text.charCodeAt(from) === LF) from++
        cr = text.indexOf('\r', from)
      }
      if (lf !== -1 && lf < from) lf = text.indexOf('\n', from)
    }
    if (from < text.length) partial += from === 0 ? text : text.slice(from)
    if (partial.length > maxEventCharacters) throw tooLong(maxEventCharacters)
  }

  function take(): SseEvent[] {
    const taken = events
    events = []
    return taken
  }

  return {
    push(bytes) {
      split(decoder.decode(bytes, { stream: true }))
      return take()
    },
    pushText(text) {
      split(text)
      return take()
    },
    end() {
      split(decoder.decode())
      if (partial !== '') takeEnded('', 0, 0)
      dispatch()
      return take()
    },
  }
}

/** One space behind the colon is no part of the value. */
const valueBetween = (text: string, from: number, to: number): string =>
  text.slice(from < to && text.charCodeAt(from) === SPACE ? from + 1 : from, to)

const tooLong = (maxEventCharacters: number): UpstreamError =>
  new UpstreamError('malformed', `an event of the stream is longer than ${maxEventCharacters} characters`)
