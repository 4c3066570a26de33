import type { JsonObject } from '../../core/json.ts'
import type { McpServer } from '../../core/mcp.ts'
import { LIMIT_BYTES } from './protocol.ts'

/** A process that speaks in lines. */
export interface Child {
  /** One message, as a line. */
  write(message: JsonObject): void
  /** Ends it with everything that it started. `why`: reported by `ended`. */
  kill(why: string): void
}

interface Events {
  /** A line of stdout, of at most `LIMIT_BYTES`; a longer one ends the process. */
  line(text: string): void
  /** A line of stderr, cut. */
  errorLine(text: string): void
  /** Once. */
  ended(why: string): void
}

/** From SIGTERM to SIGKILL. */
const GRACE_MS = 2_000
const MOST_ERROR_BYTES = 4_096
/** Between two turns of the event loop. */
const MOST_LINES_AT_ONCE = 100

/** Never throws: a program that cannot be started has ended. */
export function startChild(
  { command, env, folder }: NonNullable<McpServer['process']>,
  events: Events,
): Child {
  const child = spawned([...command], { ...env }, folder)
  if (child === null) {
    queueMicrotask(() => events.ended('could not be started: the operator should check its command and cwd'))
    return { write: () => undefined, kill: () => undefined }
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
    const timer = setTimeout(() => signal('SIGKILL'), GRACE_MS)
    timer.unref()
    child.exited.then(() => clearTimeout(timer))
    events.ended(reason)
  }
  const tooLong = (): void => kill(`wrote a line of more than ${LIMIT_BYTES} bytes, and was ended`)
  const failed = (): void => kill('ended')
  linesOf(child.stdout, LIMIT_BYTES, events.line, tooLong).catch(failed)
  linesOf(child.stderr, MOST_ERROR_BYTES, events.errorLine, null).catch(() => undefined)
  child.exited.then((code) => {
    if (why === null) events.ended(`ended with exit code ${code}`)
    why ??= ''
  }, failed)
  return {
    write(message) {
      try {
        child.stdin.write(`${JSON.stringify(message)}\n`)
        child.stdin.flush()
      } catch {
        kill('does not read its input')
      }
    },
    kill,
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

/** Reads lines, each once: its pieces are joined at its end. `tooLong` null: the rest of a longer line is left out. */
async function linesOf(
  stream: ReadableStream<Uint8Array>,
  mostBytes: number,
  see: (line: string) => void,
  tooLong: (() => void) | null,
): Promise<void> {
  let pieces: Uint8Array[] = []
  let bytes = 0
  const add = (piece: Uint8Array): boolean => {
    const kept = piece.subarray(0, mostBytes - bytes)
    if (kept.length < piece.length && tooLong !== null) return false
    if (kept.length > 0) pieces.push(kept)
    bytes += kept.length
    return true
  }
  for await (const chunk of stream) {
    let from = 0
    let lines = 0
    for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, from)) {
      if (!add(chunk.subarray(from, end))) return tooLong?.()
      const line = Buffer.concat(pieces).toString().trim()
      pieces = []
      bytes = 0
      from = end + 1
      if (line !== '') see(line)
      if (++lines % MOST_LINES_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    if (!add(chunk.subarray(from))) return tooLong?.()
  }
}

const LINE_END = 10
