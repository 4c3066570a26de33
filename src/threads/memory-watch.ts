/** A task made the process grow too much. */
export class TaskMemory extends Error {
  constructor() {
    super('the task took too much memory')
    this.name = 'TaskMemory'
  }
}

/** A running task: ends it with this reason. */
type End = (reason: unknown) => void

const LOOK_MS = 50

/**
 * Looks how much the process grows while tasks run, because a thread has no measure of its own. At more than `most`
 * bytes since the smallest size that a task has seen, the task that has run longest ends; the others are measured anew.
 */
export function createMemoryWatch(most: number, memory: () => number = process.memoryUsage.rss) {
  const tasks = new Map<End, number>()
  let timer: Timer | undefined

  function look(): void {
    const now = memory()
    for (const [end, smallest] of tasks) {
      if (now < smallest) tasks.set(end, now)
      if (now - smallest <= most) continue
      for (const other of tasks.keys()) tasks.set(other, now)
      end(new TaskMemory())
      return
    }
  }

  return {
    begin(end: End): void {
      tasks.set(end, memory())
      if (timer !== undefined) return
      timer = setInterval(look, LOOK_MS)
      timer.unref()
    },
    ended(end: End): void {
      tasks.delete(end)
      if (tasks.size > 0) return
      clearInterval(timer)
      timer = undefined
    },
  }
}
