/** A clock that was set back stands for a moment and goes on: for waits, which no clock that is set may lengthen. */
export function neverBack(now: () => number): () => number {
  let last = Number.NEGATIVE_INFINITY
  let lead = 0
  return () => {
    const at = now()
    if (at < last) lead += last - at
    last = at
    return at + lead
  }
}
