import { endOfPiece } from '../../core/pieces.ts'

/** Texts that wait to be sent. They may be as long as a complete reply: none is copied or joined as a whole. */
export interface TextQueue {
  push(text: string): void
  readonly isEmpty: boolean
  /** The next text, of at most `most` UTF-16 units. '' if nothing waits. */
  take(most: number): string
}

export function createTextQueue(): TextQueue {
  let texts: string[] = []
  /** The next text, and how much of it has been taken. */
  let first = 0
  let at = 0
  return {
    push(text) {
      if (text !== '') texts.push(text)
    },
    get isEmpty() {
      return first === texts.length
    },
    take(most) {
      let taken = ''
      for (let text = texts[first]; text !== undefined; text = texts[first]) {
        const end = endOfPiece(text, at, most - taken.length)
        if (end === at) break
        taken += text.slice(at, end)
        at = end
        if (at < text.length) break
        // Released while the others wait.
        texts[first++] = ''
        at = 0
      }
      if (first === texts.length) {
        texts = []
        first = 0
      }
      return taken
    },
  }
}
