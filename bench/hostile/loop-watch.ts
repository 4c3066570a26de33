/** What one thread did since it was last looked at. */
export interface Stop {
  /** Processor time of the thread within its longest stop, in ms: a busy machine does not change it. */
  cpuMs: number
  /** The longest stop on the clock, in ms. It includes waiting for the disk and for a processor. */
  wallMs: number
  /** All processor time of the thread, in ms. */
  threadMs: number
  /** All processor time of the process, workers and garbage collection included, in ms. */
  processMs: number
}

export interface LoopWatch {
  /** What was measured since the last look; the next measurement begins now. */
  look(): Promise<Stop>
  stop(): void
}

const BEAT_MS = 1

/**
 * Watches the event loop of the thread that calls it: a timer beats every millisecond, and the time between two
 * beats is a stop. Tasks between which the loop turns are separate stops; microtasks are not, because they starve
 * every other connection until the last one has run.
 */
export function watchLoop(): LoopWatch {
  let longest = { cpuMs: 0, wallMs: 0 }
  let begun = { threadMs: threadMs(), processMs: processMs() }
  let last = { at: performance.now(), threadMs: begun.threadMs }

  const beat = (): void => {
    const now = { at: performance.now(), threadMs: threadMs() }
    longest = {
      cpuMs: Math.max(longest.cpuMs, now.threadMs - last.threadMs),
      wallMs: Math.max(longest.wallMs, now.at - last.at),
    }
    last = now
  }
  const timer = setInterval(beat, BEAT_MS)
  return {
    async look() {
      // A stop that is under way ends with the next beat.
      await Bun.sleep(5 * BEAT_MS)
      beat()
      const stop = {
        ...longest,
        threadMs: threadMs() - begun.threadMs,
        processMs: processMs() - begun.processMs,
      }
      longest = { cpuMs: 0, wallMs: 0 }
      begun = { threadMs: threadMs(), processMs: processMs() }
      return stop
    },
    stop: () => clearInterval(timer),
  }
}

const threadMs = (): number => milliseconds(process.threadCpuUsage())
const processMs = (): number => milliseconds(process.cpuUsage())
const milliseconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000
