import type { Label } from './definition.ts'

/** A longer value is cut. */
const MOST_CHARACTERS = 128

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' }
const escaped = (value: string): string =>
  value
    .slice(0, MOST_CHARACTERS)
    .toWellFormed()
    .replace(/[\\"\n]/g, (character) => ESCAPES[character] ?? character)

/** `name="value",…` without braces. A label without a value is left out, which means the same. */
export function labelText(labels: readonly Label[], values: readonly string[]): string {
  const members: string[] = []
  for (const [index, label] of labels.entries()) {
    const value = values[index] ?? ''
    if (value !== '') members.push(`${label}="${escaped(value)}"`)
  }
  return members.join(',')
}
