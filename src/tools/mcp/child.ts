import type { JsonObject } from '../../core/json.ts'
import type { McpServer } from '../../core/mcp.ts'
import { LIMIT_BYTES } from './protocol.ts'

/** A process that speaks in lines. */
export interface Child {
  /** One message, as a line. */
  write(message: JsonObject): void
  /** Ends it with everything that it started. `why`: reported by `ended`. */
  kill(why: string): void
  /** Resolves when the process is gone. Never rejects. */
  readonly gone: Promise<unknown>
}

interface Events {
  /** A line of stdout, of at most `LIMIT_BYTES`; a longer one ends the process. */
  line(text: string): void
  /** A line of stderr, cut. False: the next ones are left out. */
  errorLine(text: string): boolean
  /** So many bytes of stdout have come, of which a line has `LINE_COST` more. */
  bytes(count: number): void
  /** Once. */
  ended(why: string): void
}

/** From SIGTERM to SIGKILL. */
const GRACE_MS = 2_000
/** After lines that are left out: a process that writes them all the time waits too. */
const PAUSE_MS = 20
/** That the process has not read. */
const MOST_UNREAD_BYTES = 32 * 1024 * 1024
const MOST_ERROR_BYTES = 4_096
/** What a line takes beside its bytes: very short ones are the dearest. */
export const LINE_COST = 256
/** Between two turns of the event loop. */
const MOST_LINES_AT_ONCE = 100

/** Never throws: a program that cannot be started has ended. */
export function startChild(
  { command, env, folder }: NonNullable<McpServer['process']>,
  events: Events,
  graceMs = GRACE_MS,
): Child {
  const child = spawned([...command], { ...env }, folder)
  if (child === null) {
    queueMicrotask(() => events.ended('could not be started: the operator should check its command and cwd'))
    return { write: () => undefined, kill: () => undefined, gone: Promise.resolve() }
  }
  let why: string | null = null
  const signal = (name: NodeJS.Signals): void => {
    try {
      // The group: programs such as npx start the server as a child.
      process.kill(-child.pid, name)
    } catch {
      child.kill(name)
    }
  }
  const kill = (reason: string): void => {
    if (why !== null) return
    why = reason
    signal('SIGTERM')
    const timer = setTimeout(() => signal('SIGKILL'), graceMs)
    timer.unref()
    gone.then(() => clearTimeout(timer))
    events.ended(reason)
  }
  const atExit = (): void => signal('SIGKILL')
  process.once('exit', atExit)
  const gone = child.exited
    .then((code) => {
      if (why === null) events.ended(`ended with exit code ${code}`)
      why ??= ''
    })
    .catch(() => kill('ended'))
    // What it started, and did not end.
    .finally(() => {
      process.off('exit', atExit)
      signal('SIGKILL')
    })
  const tooLong = (): void => kill(`wrote a line of more than ${LIMIT_BYTES} bytes, and was ended`)
  const line = (text: string): true => {
    if (why === null) events.line(text)
    return true
  }
  linesOf(child.stdout, { mostBytes: LIMIT_BYTES, see: line, bytes: events.bytes, tooLong, gone }).catch(() =>
    kill('ended'),
  )
  linesOf(child.stderr, { mostBytes: MOST_ERROR_BYTES, see: events.errorLine, gone }).catch(() => undefined)
  return { write: writerTo(child.stdin, kill), kill, gone }
}

/** Bytes that the process does not read wait in memory, so they are bounded. */
function writerTo(stdin: Bun.FileSink, kill: (why: string) => void): Child['write'] {
  let unread = 0
  return (message) => {
    const text = `${JSON.stringify(message)}\n`
    unread += text.length
    if (unread > MOST_UNREAD_BYTES) {
      kill('does not read its input, and was ended')
      return
    }
    const isRead = (): void => {
      unread -= text.length
    }
    try {
      stdin.write(text)
      Promise.resolve(stdin.flush()).then(isRead, isRead)
    } catch {
      kill('does not read its input')
    }
  }
}

function spawned(command: string[], env: Record<string, string>, folder: string | null) {
  try {
    return Bun.spawn(command, {
      env,
      ...(folder !== null && { cwd: folder }),
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
      detached: true,
    })
  } catch {
    return null
  }
}

interface LineReading {
  readonly mostBytes: number
  /** False: the rest of the chunk is left out. */
  see(line: string): boolean
  /** Absent: the rest of a line that is too long is left out. */
  tooLong?: () => void
  bytes?: (count: number) => void
  /** Another process may hold the stream open behind this one. */
  readonly gone: Promise<unknown>
}

/** Reads lines, each once: its pieces are joined at its end. */
async function linesOf(
  stream: ReadableStream<Uint8Array>,
  { mostBytes, see, tooLong, bytes, gone }: LineReading,
): Promise<void> {
  const reader = stream.getReader()
  gone.then(() => reader.cancel()).catch(() => undefined)
  let pieces: Uint8Array[] = []
  let length = 0
  const add = (piece: Uint8Array): boolean => {
    const kept = piece.subarray(0, mostBytes - length)
    if (kept.length < piece.length && tooLong !== undefined) return false
    if (kept.length > 0) pieces.push(kept)
    length += kept.length
    return true
  }
  for (;;) {
    const { value: chunk, done } = await reader.read()
    if (done) return
    bytes?.(chunk.length)
    let from = 0
    let lines = 0
    let isOver = false
    for (let end = chunk.indexOf(LINE_END); end !== -1 && !isOver; end = chunk.indexOf(LINE_END, from)) {
      if (!add(chunk.subarray(from, end))) return tooLong?.()
      const line = Buffer.concat(pieces).toString().trim()
      pieces = []
      length = 0
      from = end + 1
      bytes?.(LINE_COST)
      isOver = line !== '' && !see(line)
      if (++lines % MOST_LINES_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    if (isOver) await Bun.sleep(PAUSE_MS)
    else if (!add(chunk.subarray(from))) return tooLong?.()
  }
}

const LINE_END = 10
