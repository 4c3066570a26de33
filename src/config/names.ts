import type { ConfigFile, ReadFile } from './file.ts'

/** The key of a setting in sluice.yaml. */
export const fileKey = (variable: string): string => variable.slice('SLUICE_'.length).toLowerCase()

export const reserved = ['SLUICE_DATABASE_URL', 'SLUICE_VALKEY_URL']
/** Variables that are not settings of the server: path of the file, command line client, test suite. */
export const otherVariables = ['SLUICE_CONFIG', 'SLUICE_URL', 'SLUICE_KEY', 'SLUICE_TEST_EXHAUSTIVE']

export const reservedProblems = (environment: Readonly<Record<string, string | undefined>>): string[] =>
  reserved
    .filter((name) => environment[name])
    .map((name) => `${name} is reserved and not supported yet: unset it; the database is in the data folder`)

/** Problems with the keys of the file. `variables` are the names of all settings. */
export function fileProblems(file: ConfigFile | null, variables: readonly string[]): string[] {
  if (file === null) return []
  if ('problem' in file) return [`SLUICE_CONFIG: ${file.path} ${file.problem}`]
  const known = [...variables.map(fileKey), 'providers', 'models', 'mcp_servers']
  const problems = Object.keys(file.values)
    .filter((key) => !known.includes(key))
    .map((key) => unknownKey(key, placeIn(file, key), known))
  for (const [key, fields] of Object.entries(LISTS)) {
    const value = file.values[key] ?? []
    if (!Array.isArray(value))
      problems.push(`${placeIn(file, key)} must be a list of entries, each with ${fields}`)
  }
  return problems
}

const LISTS = {
  models: 'an id',
  providers: 'slug, dialect and base_url',
  mcp_servers: 'label and url, or label and command',
}

/** `port in /srv/sluice.yaml, line 3`. */
const placeIn = ({ path, lineOf }: ReadFile, key: string): string =>
  `${key} in ${path}, line ${lineOf([key])}`

function unknownKey(key: string, place: string, known: readonly string[]): string {
  if (reserved.map(fileKey).includes(key)) return `${place} is reserved and not supported yet: remove it`
  return `${place} is not a setting${suggest(key.replace(/^SLUICE_/i, '').toLowerCase(), known)}`
}

/** The source of a setting's value, for messages. */
export const settingIn = (file: ReadFile, variable: string): string =>
  `${variable} (${placeIn(file, fileKey(variable))})`

const PLACE = /^(?:providers|models|mcp_servers)(?:\[\d+\]|\.\w+)+/

/** Adds the line to a problem that begins with its place in the file: `providers[0].slug (line 4) is taken`. */
export function withLine(problem: string, { lineOf }: ReadFile): string {
  const [place] = PLACE.exec(problem) ?? []
  if (place === undefined) return problem
  const steps = place.match(/\w+/g)?.map((step) => (/^\d+$/.test(step) ? Number(step) : step)) ?? []
  return `${place} (line ${lineOf(steps)})${problem.slice(place.length)}`
}

/** A warning for each SLUICE_* variable that is not a setting. */
export const unknownVariables = (
  environment: Readonly<Record<string, string | undefined>>,
  variables: readonly string[],
): string[] => {
  const known = [...variables, ...otherVariables]
  return Object.keys(environment)
    .filter((name) => name.startsWith('SLUICE_') && !known.includes(name) && !reserved.includes(name))
    .map((name) => `${name} is not a setting and was ignored${suggest(name, known)}`)
}

const suggest = (name: string, known: readonly string[]): string => {
  const nearest = nearestName(name, known)
  return nearest === undefined ? '' : `; did you mean ${nearest}?`
}

/** Number of letters to insert, delete or replace to turn `from` into `to`. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = previous[column - 1]! + (from[row - 1] === to[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, previous[column]! + 1, current[column - 1]! + 1))
    }
    previous = current
  }
  return previous[to.length]!
}

/** The candidate that `name` probably misspells; undefined if none is close. */
function nearestName(name: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .sort((a, b) => a.distance - b.distance)
  const best = ranked[0]
  return best !== undefined && best.distance <= Math.max(2, name.length / 3) ? best.candidate : undefined
}
