/** Text that comes in pieces and goes from its beginning; taking costs as much as what is taken. */
export interface TextQueue {
  add(text: string): void
  /** Takes a text away if the queue begins with it. */
  take(text: string): boolean
}

export function createTextQueue(): TextQueue {
  const pieces: string[] = []
  /** The first piece that is left, and how much of it is gone. */
  let first = 0
  let gone = 0
  return {
    add(text) {
      if (text !== '') pieces.push(text)
    },
    take(text) {
      let at = first
      let from = gone
      for (let taken = 0; taken < text.length; ) {
        const piece = pieces[at]
        if (piece === undefined) return false
        const count = Math.min(piece.length - from, text.length - taken)
        if (piece.slice(from, from + count) !== text.slice(taken, taken + count)) return false
        taken += count
        from += count
        if (from < piece.length) continue
        at++
        from = 0
      }
      first = at
      gone = from
      return true
    },
  }
}
