/** A short value in quotes; a long one is only named, never repeated. */
export const quoted = (value: string): string =>
  value.length <= 40 ? JSON.stringify(value) : `a string of ${value.length} characters`

/** What came, in words, without repeating more than a number or a word. */
export function sayKind(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  switch (typeof value) {
    case 'number':
    case 'boolean':
      return String(value)
    case 'string':
      return 'a string'
    case 'undefined':
      return 'absent'
    default:
      return 'an object'
  }
}
