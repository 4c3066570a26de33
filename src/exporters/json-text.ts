/** What `JSON.stringify` writes for half of a character; also matches some texts that are in order. */
const HALF = /\\ud[89a-f]/

/**
 * The JSON text of a value. Halves of a character, as a truncated text ends with, become U+FFFD: receivers such as
 * ClickHouse refuse a batch with one.
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value)
  return HALF.test(text) ? JSON.stringify(value, wellFormed) : text
}

const wellFormed = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? value.toWellFormed() : value
