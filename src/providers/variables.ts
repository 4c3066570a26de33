import type { Environment } from './environment.ts'

/**
 * What the environment says under these names: of several names the first that is set. Blank counts as absent. `places`
 * are the names that were used, else the usual ones: for problems.
 */
export function wordsOf<Name extends string>(
  environment: Environment,
  variables: Readonly<Record<Name, readonly [string, ...string[]]>>,
): { values: Partial<Record<Name, string>>; places: Record<Name, string> } {
  const values: Partial<Record<Name, string>> = {}
  const places: Partial<Record<Name, string>> = {}
  for (const name in variables) {
    const names = variables[name]
    const place = names.find((each) => environment[each]?.trim()) ?? names[0]
    places[name] = place
    const word = environment[place]?.trim()
    if (word) values[name] = word
  }
  if (!isWhole(places, variables)) throw new Error('a setting has no name')
  return { values, places }
}

/** Every name was put there above. */
const isWhole = <Name extends string>(
  places: Partial<Record<Name, string>>,
  variables: Readonly<Record<Name, unknown>>,
): places is Record<Name, string> => Object.keys(variables).every((name) => name in places)
