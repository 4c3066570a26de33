export interface TurnBounds {
  /** Tasks that wait, of all groups. */
  readonly mostWaiting: number
  /** Tasks of one group that wait. Absent: as many as of all groups. */
  readonly mostWaitingOfGroup?: number
  /** Tasks of one group that run at the same time. Absent: any number. */
  readonly mostOfGroup?: number
}

/** Waiting tasks in groups that take turns, so that no group waits for all tasks of another. */
export interface Turns<Task extends Grouped> {
  /** False: too many wait. */
  add(task: Task): boolean
  /** Takes the oldest task of the group whose turn it is, and counts it as running. Undefined: none may run. */
  next(): Task | undefined
  /** A task that `next` returned does not run any longer. */
  ended(task: Task): void
  /** Forgets a task that waits. */
  remove(task: Task): void
  /** Forgets all tasks that wait, and returns them. */
  clear(): Task[]
}

interface Grouped {
  readonly group: string
}

export function createTurns<Task extends Grouped>({
  mostWaiting,
  mostWaitingOfGroup = mostWaiting,
  mostOfGroup = Number.POSITIVE_INFINITY,
}: TurnBounds): Turns<Task> {
  /** In the order of their turns. No group is empty. */
  const waiting = new Map<string, Set<Task>>()
  const running = new Map<string, number>()
  let count = 0

  function take(group: string, tasks: Set<Task>, task: Task): void {
    if (!tasks.delete(task)) return
    count -= 1
    if (tasks.size === 0) waiting.delete(group)
  }

  return {
    add(task) {
      const tasks = waiting.get(task.group) ?? new Set()
      if (count >= mostWaiting || tasks.size >= mostWaitingOfGroup) return false
      waiting.set(task.group, tasks.add(task))
      count += 1
      return true
    },
    next() {
      for (const [group, tasks] of waiting) {
        const others = running.get(group) ?? 0
        const [task] = tasks
        if (task === undefined || others >= mostOfGroup) continue
        // Behind the others.
        waiting.delete(group)
        waiting.set(group, tasks)
        take(group, tasks, task)
        running.set(group, others + 1)
        return task
      }
      return undefined
    },
    ended({ group }) {
      const others = (running.get(group) ?? 0) - 1
      if (others > 0) running.set(group, others)
      else running.delete(group)
    },
    remove(task) {
      const tasks = waiting.get(task.group)
      if (tasks !== undefined) take(task.group, tasks, task)
    },
    clear() {
      const all = [...waiting.values()].flatMap((tasks) => [...tasks])
      waiting.clear()
      count = 0
      return all
    },
  }
}
