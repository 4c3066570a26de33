import type { ConfigProblem } from '../core/problem.ts'
import { withoutTrailing } from '../core/trailing.ts'
import type { Environment } from './environment.ts'

type BaseUrl = { readonly url: string } | { readonly problem: string }

const SHAPE = 'must be an http or https URL with the version segment, such as https://api.example.com/v1'

/**
 * Reads the address of a provider. No trailing slash in the result, and nothing that could carry a secret or cut a
 * path off: user-info, query and fragment are problems. The problem completes "<setting> …" and never quotes the value.
 */
export function readBaseUrl(text: string): BaseUrl {
  let url: URL
  try {
    url = new URL(text.trim())
  } catch {
    return { problem: `${SHAPE}; this is not a URL` }
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { problem: SHAPE }
  if (url.username !== '' || url.password !== '') {
    return { problem: 'must not hold a user name or password: give the credential as the API key' }
  }
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text)) {
    return { problem: 'must not have a query or a fragment: paths are appended to it' }
  }
  return { url: url.origin + withoutTrailing(url.pathname, '/') }
}

/** True for an address on this machine: what is sent there does not leave it. */
export function isLoopback(baseUrl: string): boolean {
  const host = new URL(baseUrl).hostname
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(host)
  )
}

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

const VARIABLE = /\$\{([^}]*)\}/g
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Replaces `${NAME}` in every string of a settings value by the environment's. A name that is unset or blank is a
 * problem at its place. Keys of objects are left as they are.
 */
export function expandVariables(
  value: unknown,
  environment: Environment,
  path: string,
  problems: ConfigProblem[],
): unknown {
  if (typeof value === 'string') return expandText(value, environment, path, problems)
  if (Array.isArray(value)) {
    return value.map((item, index) => expandVariables(item, environment, `${path}[${index}]`, problems))
  }
  if (typeof value !== 'object' || value === null) return value
  const expanded: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    Object.defineProperty(expanded, key, {
      value: expandVariables(item, environment, `${path}.${key}`, problems),
      enumerable: true,
    })
  }
  return expanded
}

function expandText(text: string, environment: Environment, path: string, problems: ConfigProblem[]): string {
  return text.replace(VARIABLE, (whole, name: string) => {
    if (!NAME.test(name)) {
      problems.push({ path, message: '"${…}" must hold the name of one environment variable' })
      return whole
    }
    const value = environment[name]?.trim() ?? ''
    if (value === '') problems.push({ path, message: `the environment variable ${name} is not set` })
    return value
  })
}
