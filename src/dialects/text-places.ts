/** Translates places in a text that grows, counted in another unit than UTF-16, in the time of one search. */
interface TextPlaces {
  add(text: string): void
  /** UTF-16 units so far. */
  readonly length: number
  /** The place in UTF-16 units of `count` units behind `from` (in UTF-16 units, a place where a text was added). */
  unitsTo(count: number, from?: number): number
}

interface Piece {
  readonly text: string
  /** Where it begins, in UTF-16 and in the other unit. */
  readonly at: number
  readonly count: number
}

/** Longer texts are cut: a place is counted within one piece. */
const PIECE_UNITS = 512

/** `measure`: the length of a text in the other unit; `prefix`: the UTF-16 length of its first `count` units. */
function createTextPlaces(
  measure: (text: string) => number,
  prefix: (text: string, count: number) => number,
): TextPlaces {
  const pieces: Piece[] = []
  let unmeasured: string[] = []
  let length = 0
  let measuredTo = 0
  let count = 0

  function put(text: string): void {
    pieces.push({ text, at: measuredTo, count })
    measuredTo += text.length
    count += measure(text)
  }

  /** Only replies with citations pay for it. */
  function measureAll(): void {
    for (const text of unmeasured) {
      for (let at = 0; at < text.length; ) {
        const end = endOfPiece(text, at)
        put(text.slice(at, end))
        at = end
      }
    }
    unmeasured = []
  }

  /** The last piece that begins at or before a place. */
  function pieceAt(place: number, unit: 'at' | 'count'): Piece | undefined {
    let low = 0
    let high = pieces.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((pieces[middle]?.[unit] ?? 0) <= place) low = middle
      else high = middle
    }
    return pieces[low]
  }

  return {
    add(text) {
      if (text === '') return
      unmeasured.push(text)
      length += text.length
    },
    get length() {
      return length
    },
    unitsTo(wanted, from = 0) {
      measureAll()
      const start = pieceAt(from, 'at')
      const before = start === undefined || from >= length ? count : start.count
      const place = before + wanted
      if (place >= count) return length + place - count
      const piece = pieceAt(place, 'count')
      return piece === undefined ? 0 : piece.at + prefix(piece.text, place - piece.count)
    },
  }
}

/** Never between the halves of a surrogate pair. */
function endOfPiece(text: string, at: number): number {
  const end = at + PIECE_UNITS
  if (end >= text.length) return text.length
  const unit = text.charCodeAt(end)
  return unit >= 0xdc00 && unit <= 0xdfff ? end + 1 : end
}

/** Places in bytes of UTF-8. */
export const bytePlaces = (): TextPlaces =>
  createTextPlaces(
    (text) => Buffer.byteLength(text),
    (text, count) => Buffer.from(text).toString('utf8', 0, count).length,
  )

/** Places in characters (code points). */
export const characterPlaces = (): TextPlaces =>
  createTextPlaces(
    (text) => [...text].length,
    (text, count) => [...text].slice(0, count).join('').length,
  )

/** A queue of text: pieces are added at the end and taken from the front. Taking costs the length taken. */
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
