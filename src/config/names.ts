import type { ConfigFile } from './file.ts'
import { nearestName } from './nearest.ts'

/** A setting's key in sluice.yaml. */
export const fileKey = (variable: string): string => variable.slice('SLUICE_'.length).toLowerCase()

export const reserved = ['SLUICE_DATABASE_URL', 'SLUICE_VALKEY_URL']
/** Not settings of the server: where the file is, the command line's client, the test suite. */
export const otherVariables = ['SLUICE_CONFIG', 'SLUICE_URL', 'SLUICE_KEY', 'SLUICE_TEST_EXHAUSTIVE']

export const reservedProblems = (environment: Readonly<Record<string, string | undefined>>): string[] =>
  reserved
    .filter((name) => environment[name])
    .map((name) => `${name} is reserved and not supported yet: unset it; the database is in the data folder`)

/** What is wrong with the file's keys; `variables` are the names of all settings. */
export function fileProblems(file: ConfigFile | null, variables: readonly string[]): string[] {
  if (file === null) return []
  if ('problem' in file) return [`SLUICE_CONFIG: ${file.path} ${file.problem}`]
  const known = [...variables.map(fileKey), 'providers', 'models']
  const problems = Object.keys(file.values)
    .filter((key) => !known.includes(key))
    .map((key) => unknownKey(key, file.path, known))
  const { providers, models } = file.values
  if (models !== undefined && models !== null && !Array.isArray(models)) {
    problems.push(`models in ${file.path} must be a list of entries, each with an id`)
  }
  if (providers !== undefined && providers !== null && !Array.isArray(providers)) {
    problems.push(`providers in ${file.path} must be a list of entries, each with slug, dialect and base_url`)
  }
  return problems
}

function unknownKey(key: string, path: string, known: readonly string[]): string {
  if (reserved.map(fileKey).includes(key))
    return `${key} in ${path} is reserved and not supported yet: remove it`
  return `${key} in ${path} is no setting${suggest(key.replace(/^SLUICE_/i, '').toLowerCase(), known)}`
}

/** A warning for each SLUICE_* variable that means nothing. */
export const unknownVariables = (
  environment: Readonly<Record<string, string | undefined>>,
  variables: readonly string[],
): string[] => {
  const known = [...variables, ...otherVariables]
  return Object.keys(environment)
    .filter((name) => name.startsWith('SLUICE_') && !known.includes(name) && !reserved.includes(name))
    .map((name) => `${name} is no setting and was ignored${suggest(name, known)}`)
}

const suggest = (name: string, known: readonly string[]): string => {
  const nearest = nearestName(name, known)
  return nearest === undefined ? '' : `; did you mean ${nearest}?`
}
