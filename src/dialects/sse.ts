import { UpstreamError } from '../core/errors.ts'

/** One dispatched event: its name ('' where none was given) and its `data:` lines, joined by line feeds. */
export interface SseEvent {
  readonly name: string
  readonly data: string
}

/** Turns bytes, cut anywhere, into events. One for each stream. */
export interface StreamParser {
  /** Gives bytes to read. Their events come by `next`, and all are taken before more bytes are given. */
  feed(bytes: Uint8Array): void
  /** The next event that is complete. Throws `UpstreamError` `malformed` beyond the cap. */
  next(): SseEvent | undefined
  /**
   * The body ended cleanly. What its last lines hold without the final blank line is an event too: some servers
   * leave it out (and a half of one is for the consumer to recognise).
   */
  end(): SseEvent[]
  /** For streams of text: the text that the last event stood in, its blank line included; undefined: in several reads. */
  stood?(): string | undefined
  /** For streams of text: has `read` look at it where the next event begins, and answer how far it has read. */
  skip?(read: (text: string, from: number) => number): void
}

interface SseParser extends StreamParser {
  /** `feed`, and all that `next` gives then. */
  push(bytes: Uint8Array): SseEvent[]
  /** The same for text that is already decoded. */
  pushText(text: string): SseEvent[]
}

/**
 * The size of a complete reply: an image comes in one event, in base64 (more than 8 MB: openai-node#2433, 2026),
 * and the last event repeats a finished response. A line without an end must not fill the memory.
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
 * own framing) is an event, because skipping it would make a broken stream look complete.
 */
export function createSseParser(maxEventCharacters = MAX_EVENT_CHARACTERS): SseParser {
  const decoder = new TextDecoder()
  /** What was fed last, how much of it has been read, and the next line ends in it (-1: there is no other). */
  let text = ''
  let at = 0
  let cr = -1
  let lf = -1
  let event: SseEvent | null = null
  /** Where the event under way began, and the one before it; -1: before `text`. */
  let begun = 0
  let stoodFrom = -1
  /** A line whose end has not come. */
  let partial = ''
  let name = ''
  let data: string | null = null
  let lines = 0
  /** Bare JSON under way: its lines are taken as they are. */
  let isBare = false
  let endedInCr = false

  function dispatch(): void {
    if (data !== null || name !== '') event = { name, data: data ?? '' }
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

  /** Reads the line in place: most lines are complete and are sliced from their text once. */
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

  const isBetweenEvents = (): boolean => partial === '' && data === null && name === ''

  function feedText(more: string): void {
    text = more
    at = 0
    if (endedInCr && more !== '') {
      endedInCr = false
      if (more.charCodeAt(0) === LF) at = 1
    }
    // Only the new text is searched for line ends, so a long line that comes byte by byte costs no more.
    cr = UNKNOWN
    lf = UNKNOWN
    begun = isBetweenEvents() ? at : -1
  }

  /** Reads the next line; false where it has no end. */
  function readLine(): boolean {
    if (cr !== -1 && cr < at) cr = text.indexOf('\r', at)
    if (lf !== -1 && lf < at) lf = text.indexOf('\n', at)
    if (cr === -1 && lf === -1) return false
    const isCr = cr !== -1 && (lf === -1 || cr < lf)
    const to = isCr ? cr : lf
    const from = at
    at = to + 1
    if (isCr) {
      if (at === text.length) endedInCr = true
      else if (text.charCodeAt(at) === LF) at++
    }
    takeEnded(text, from, to)
    return true
  }

  function next(): SseEvent | undefined {
    while (at < text.length && readLine()) {
      if (event !== null) return taken()
      if (isBetweenEvents()) begun = at
    }
    if (at < text.length) partial += at === 0 ? text : text.slice(at)
    text = ''
    at = 0
    if (partial.length > maxEventCharacters) throw tooLong(maxEventCharacters)
    return undefined
  }

  function taken(): SseEvent | undefined {
    const complete = event ?? undefined
    event = null
    stoodFrom = begun
    begun = isBetweenEvents() ? at : -1
    return complete
  }

  function takenAll(): SseEvent[] {
    const events: SseEvent[] = []
    for (let each = next(); each; each = next()) events.push(each)
    return events
  }

  return {
    feed: (bytes) => feedText(decoder.decode(bytes, STREAM)),
    next,
    stood: () => (stoodFrom === -1 ? undefined : text.slice(stoodFrom, at)),
    skip(read) {
      if (begun !== at || at === text.length) return
      at = read(text, at)
      begun = at
    },
    push(bytes) {
      feedText(decoder.decode(bytes, STREAM))
      return takenAll()
    },
    pushText(more) {
      feedText(more)
      return takenAll()
    },
    end() {
      feedText(decoder.decode())
      const events = takenAll()
      if (partial !== '') takeEnded('', 0, 0)
      const tail = taken()
      if (tail) events.push(tail)
      dispatch()
      const last = taken()
      if (last) events.push(last)
      return events
    },
  }
}

const STREAM = { stream: true } as const
/** A place before every other: the next one is to be searched for. */
const UNKNOWN = -2

/** One space behind the colon is no part of the value. */
const valueBetween = (text: string, from: number, to: number): string =>
  text.slice(from < to && text.charCodeAt(from) === SPACE ? from + 1 : from, to)

const tooLong = (maxEventCharacters: number): UpstreamError =>
  new UpstreamError('malformed', `an event of the stream is longer than ${maxEventCharacters} characters`)
