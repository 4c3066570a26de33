/** A clock that never goes back: if it is set back it pauses once and continues. For waits, which must not grow. */
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
