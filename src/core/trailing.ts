/**
 * `text` without the `letter`s at its end. A pattern such as `/0+$/` starts again at each of them, also in the middle
 * of the text: a long run that does not end it takes quadratic time.
 */
export function withoutTrailing(text: string, letter: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === letter) end -= 1
  return text.slice(0, end)
}
