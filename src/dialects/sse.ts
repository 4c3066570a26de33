import { UpstreamError } from '../core/errors.ts'

/** One event: its name ('' if the server gave none) and its `data:` lines, joined by line feeds. */
export interface SseEvent {
  readonly name: string
  readonly data: string
}

/** Turns bytes, split anywhere, into events. One for each stream. */
export interface StreamParser {
  /** Adds bytes. `next` returns their events; call it until it returns undefined before the next `feed`. */
  feed(bytes: Uint8Array): void
  /** The next complete event. Throws `UpstreamError` `malformed` beyond the cap. */
  next(): SseEvent | undefined
  /**
   * The body ended without an error. Last lines without the final blank line are an event too, because some servers
   * leave it out. The consumer must recognise a truncated one.
   */
  end(): SseEvent[]
  /** For streams of text: the text of the last event with its blank line; undefined if it came in several reads. */
  stood?(): string | undefined
  /** For streams of text: calls `read` where the next event begins; `read` returns how far it has read. */
  skip?(read: (text: string, from: number) => number): void
}

interface SseParser extends StreamParser {
  /** `feed`, and all events that `next` then returns. */
  push(bytes: Uint8Array): SseEvent[]
  /** The same for text that is already decoded. */
  pushText(text: string): SseEvent[]
}

/**
 * As much as a complete reply: an image is one event, in base64 (more than 8 MB: openai-node#2433, 2026), and the
 * last event repeats a finished response. The bound keeps a line without an end from filling the memory.
 */
export const MAX_EVENT_CHARACTERS = 32 * 1024 * 1024

/** Lines of one event. Each adds a link to the concatenated text, and no server writes JSON of so many lines. */
export const MAX_EVENT_LINES = 100_000

const SPACE = 32
const LF = 10

interface ParserState {
  readonly maxEventCharacters: number
  /** The last text fed, how much of it has been read, and where its next line ends (-1: there is no other). */
  text: string
  at: number
  cr: number
  lf: number
  /** A line whose end has not come. */
  partial: string
  endedInCr: boolean
  /** The complete event that `next` returns. */
  event: SseEvent | null
  /** Where the event under way began, and the one before it; -1: before `text`. */
  begun: number
  stoodFrom: number
  /** Of the event under way. */
  name: string
  data: string | null
  lines: number
  /** The event under way is bare JSON: its lines are data as they are. */
  isBare: boolean
}

const newState = (maxEventCharacters: number): ParserState => ({
  maxEventCharacters,
  text: '',
  at: 0,
  cr: -1,
  lf: -1,
  partial: '',
  endedInCr: false,
  event: null,
  begun: 0,
  stoodFrom: -1,
  name: '',
  data: null,
  lines: 0,
  isBare: false,
})

/**
 * Server-sent events as WHATWG HTML §9.2.6 reads them: LF, CRLF or CR ends a line; a leading byte order mark, comments,
 * `id:` and `retry:` are skipped. More lenient than the standard: the final blank line may be missing, and blanks before
 * a field's name are skipped. Bare JSON between events (an error that a server wrote outside its own framing) and a
 * field `error:` (llama.cpp, recorded 2026) are events, because without them the reason would be lost, and a broken stream
 * could look complete.
 */
export function createSseParser(maxEventCharacters = MAX_EVENT_CHARACTERS): SseParser {
  const decoder = new TextDecoder()
  const state = newState(maxEventCharacters)
  return {
    feed: (bytes) => feed(decoder.decode(bytes, STREAM), state),
    next: () => next(state),
    stood: () => (state.stoodFrom === -1 ? undefined : state.text.slice(state.stoodFrom, state.at)),
    skip(read) {
      if (state.begun !== state.at || state.at === state.text.length) return
      state.at = read(state.text, state.at)
      state.begun = state.at
    },
    push(bytes) {
      feed(decoder.decode(bytes, STREAM), state)
      return takeAll(state)
    },
    pushText(more) {
      feed(more, state)
      return takeAll(state)
    },
    end() {
      feed(decoder.decode(), state)
      const events = takeAll(state)
      if (state.partial !== '') endLine('', 0, 0, state)
      const tail = taken(state)
      if (tail) events.push(tail)
      dispatch(state)
      const last = taken(state)
      if (last) events.push(last)
      return events
    },
  }
}

const STREAM = { stream: true } as const
/** A place before every other: the next line end must be searched for. */
const UNKNOWN = -2

function feed(more: string, state: ParserState): void {
  state.text = more
  state.at = 0
  if (state.endedInCr && more !== '') {
    state.endedInCr = false
    if (more.charCodeAt(0) === LF) state.at = 1
  }
  // Searches the new text only: a long line is read in linear time even if it arrives byte by byte.
  state.cr = UNKNOWN
  state.lf = UNKNOWN
  state.begun = isBetweenEvents(state) ? state.at : -1
}

const isBetweenEvents = ({ partial, data, name }: ParserState): boolean =>
  partial === '' && data === null && name === ''

function next(state: ParserState): SseEvent | undefined {
  while (state.at < state.text.length && readLine(state)) {
    if (state.event !== null) return taken(state)
    if (isBetweenEvents(state)) state.begun = state.at
  }
  const { text, at } = state
  if (at < text.length) state.partial += at === 0 ? text : text.slice(at)
  state.text = ''
  state.at = 0
  checkLength(state.partial, state)
  return undefined
}

function taken(state: ParserState): SseEvent | undefined {
  const complete = state.event ?? undefined
  state.event = null
  state.stoodFrom = state.begun
  state.begun = isBetweenEvents(state) ? state.at : -1
  return complete
}

function takeAll(state: ParserState): SseEvent[] {
  const events: SseEvent[] = []
  for (let each = next(state); each; each = next(state)) events.push(each)
  return events
}

/** Reads the next line; false if its end has not come. */
function readLine(state: ParserState): boolean {
  const { text, at } = state
  if (state.cr !== -1 && state.cr < at) state.cr = text.indexOf('\r', at)
  if (state.lf !== -1 && state.lf < at) state.lf = text.indexOf('\n', at)
  const { cr, lf } = state
  if (cr === -1 && lf === -1) return false
  const isCr = cr !== -1 && (lf === -1 || cr < lf)
  const to = isCr ? cr : lf
  state.at = to + 1
  if (isCr) {
    if (to + 1 === text.length) state.endedInCr = true
    else if (text.charCodeAt(to + 1) === LF) state.at++
  }
  endLine(text, at, to, state)
  return true
}

function endLine(text: string, from: number, to: number, state: ParserState): void {
  if (state.partial === '') {
    takeLine(text, from, to, state)
    return
  }
  const line = state.partial + text.slice(from, to)
  state.partial = ''
  takeLine(line, 0, line.length, state)
}

/** Reads the line in place: most lines are complete and are sliced from their text once. */
function takeLine(text: string, from: number, to: number, state: ParserState): void {
  if (from === to) {
    dispatch(state)
  } else if (text.startsWith('data:', from)) {
    if (state.isBare) dispatch(state)
    append(valueBetween(text, from + 5, to), state)
  } else if (state.isBare) {
    append(text.slice(from, to), state)
  } else if (text.startsWith('event:', from)) {
    state.name = valueBetween(text, from + 6, to)
  } else {
    takeOtherLine(text.slice(from, to), state)
  }
}

function takeOtherLine(line: string, state: ParserState): void {
  const trimmed = line.trimStart()
  if (trimmed.startsWith('{') || trimmed.startsWith('[')) {
    if (state.data !== null) dispatch(state)
    state.isBare = true
    append(line, state)
  } else if (trimmed !== line) {
    if (trimmed !== '') takeLine(trimmed, 0, trimmed.length, state)
  } else if (line.startsWith('error:')) {
    state.name = 'error'
    append(valueBetween(line, 6, line.length), state)
  } else if (line === 'event') {
    state.name = ''
  } else if (line === 'data') {
    append('', state)
  }
}

/** Completes the event under way. */
function dispatch(state: ParserState): void {
  const { name, data } = state
  if (data !== null || name !== '') state.event = { name, data: data ?? '' }
  state.name = ''
  state.data = null
  state.lines = 0
  state.isBare = false
}

function append(value: string, state: ParserState): void {
  state.data = state.data === null ? value : `${state.data}\n${value}`
  checkLength(state.data, state)
  if (++state.lines > MAX_EVENT_LINES)
    throw new UpstreamError('malformed', `an event of the stream has more than ${MAX_EVENT_LINES} lines`)
}

function checkLength({ length }: string, { maxEventCharacters }: ParserState): void {
  if (length <= maxEventCharacters) return
  throw new UpstreamError(
    'malformed',
    `an event of the stream is longer than ${maxEventCharacters} characters`,
  )
}

/** The value of a field: one space after the colon is not part of it. */
const valueBetween = (text: string, from: number, to: number): string =>
  text.slice(from < to && text.charCodeAt(from) === SPACE ? from + 1 : from, to)
