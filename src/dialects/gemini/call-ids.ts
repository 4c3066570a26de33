/**
 * Which call a response answers. Google's ids are optional: some clients send none, some only on the response. Every
 * step is constant: calls of one name wait in a queue.
 */
export interface CallIds {
  /** The id of the next call of the conversation; unique in it. */
  called(id: string | undefined, name: string): string
  /** The id of the call that a response answers; undefined: none is open. */
  answered(id: string | undefined, name: string): string | undefined
}

interface Queue {
  readonly ids: string[]
  next: number
}

export function createCallIds(): CallIds {
  const used = new Set<string>()
  /** What the caller calls them → what they are called here. */
  const byId = new Map<string, string>()
  const open = new Map<string, Queue>()
  const done = new Set<string>()
  let count = 0

  function fresh(): string {
    let id = `call_${++count}`
    while (used.has(id)) id = `call_${++count}`
    return id
  }

  return {
    called(id, name) {
      const own = id === undefined || id === '' || used.has(id) ? fresh() : id
      used.add(own)
      if (id !== undefined && id !== '') byId.set(id, own)
      const queue = open.get(name) ?? { ids: [], next: 0 }
      queue.ids.push(own)
      open.set(name, queue)
      return own
    },
    answered(id, name) {
      const own = id === undefined ? undefined : byId.get(id)
      if (own !== undefined) {
        done.add(own)
        return own
      }
      const queue = open.get(name)
      while (queue && queue.next < queue.ids.length) {
        const oldest = queue.ids[queue.next++]
        if (oldest === undefined || done.has(oldest)) continue
        done.add(oldest)
        return oldest
      }
      return undefined
    },
  }
}
