import { readFileSync } from 'node:fs'
import type { ConfigProblem } from '../core/problem.ts'

/** More are too many for one pass over a text. */
const MOST_CHARACTERS = 100_000
const SHORTEST = 2

/**
 * Reads the names of people that `person-name` looks for: one a line, blank lines and those that begin with `#` apart.
 */
export function readNameList(path: string): { names: readonly string[]; problems: readonly ConfigProblem[] } {
  const wrong = (message: string) => ({
    names: [],
    problems: [{ path: 'SLUICE_PERSON_NAMES', message: `${path} ${message}` }],
  })
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (error) {
    return wrong(error instanceof TypeError ? 'is not UTF-8' : 'cannot be read')
  }
  const lines = text.split(/\r\n?|\n/).map((line) => line.trim().replace(/\s+/g, ' '))
  const short = lines.findIndex((line) => line !== '' && !line.startsWith('#') && line.length < SHORTEST)
  if (short !== -1)
    return wrong(`has a name of one letter in line ${short + 1}: it would be found everywhere`)
  const names = lines.filter((line) => line !== '' && !line.startsWith('#'))
  if (names.length === 0) return wrong('has no name in it: one a line')
  const characters = names.reduce((sum, name) => sum + name.length, 0)
  if (characters > MOST_CHARACTERS)
    return wrong(`has ${characters} characters of names, and ${MOST_CHARACTERS} are the most`)
  return { names, problems: [] }
}
