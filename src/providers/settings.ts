import { asText, fieldsOf } from '../core/json.ts'
import type { ConfigProblem } from '../core/problem.ts'
import type { Timeouts } from '../core/snapshot.ts'
import { withoutTrailing } from '../core/trailing.ts'

/** Values of the environment, read elsewhere. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Limits of a provider without settings of its own. */
export interface ProviderDefaults {
  readonly timeouts: Timeouts
  readonly maxInFlight: number
}

/** Where a setting of a cloud is written: its variables, of which the first that is set is used, and its entry key. */
export interface SettingPlaces {
  readonly variables: readonly [string, ...string[]]
  /** Below an entry of `providers:`, such as `azure.tenant_id`. */
  readonly entry: string
}

/** The settings of one cloud, trimmed; blank ones are absent. */
export interface Settings<Name extends string> {
  readonly values: Readonly<Partial<Record<Name, string>>>
  /** Where the setting is written, or would be. */
  placeOf(name: Name): string
  /** Reports a problem of this setting, which completes "<setting> …". The value is never quoted. */
  reject(name: Name, message: string): void
}

export const settingsOfEnvironment = <Name extends string>(
  environment: Environment,
  places: Readonly<Record<Name, SettingPlaces>>,
  problems: ConfigProblem[],
): Settings<Name> =>
  settingsOf(places, problems, ({ variables }) => {
    const place = variables.find((name) => environment[name]?.trim()) ?? variables[0]
    return { place, value: environment[place] }
  })

/** `at` is the place of the entry, such as `providers[0]`. */
export const settingsOfEntry = <Name extends string>(
  entry: object,
  at: string,
  places: Readonly<Record<Name, SettingPlaces>>,
  problems: ConfigProblem[],
): Settings<Name> =>
  settingsOf(places, problems, ({ entry: path }) => {
    const value = path.split('.').reduce<unknown>((block, key) => fieldsOf(block)[key], entry)
    return { place: `${at}.${path}`, value }
  })

function settingsOf<Name extends string>(
  places: Readonly<Record<Name, SettingPlaces>>,
  problems: ConfigProblem[],
  read: (places: SettingPlaces) => { place: string; value: unknown },
): Settings<Name> {
  const values: Partial<Record<Name, string>> = {}
  for (const name in places) {
    const text = asText(read(places[name]).value)?.trim()
    if (text) values[name] = text
  }
  const placeOf = (name: Name): string => read(places[name]).place
  return { values, placeOf, reject: (name, message) => problems.push({ path: placeOf(name), message }) }
}

/** Stands in for an address with a problem, so that the rest of the settings is checked in the same run. */
export const UNSET_URL = 'http://unset.invalid'

type BaseUrl = { readonly url: string } | { readonly problem: string }

const SHAPE = 'must be an http or https URL with the version segment, such as https://api.example.com/v1'

/**
 * Reads the address of a provider, without trailing slashes. User-info, query and fragment are problems: they could
 * carry a secret, or cut off the paths that are appended. The problem completes "<setting> …" and never quotes the
 * value.
 */
export function readBaseUrl(text: string): BaseUrl {
  const url = URL.parse(text.trim())
  if (url === null) return { problem: `${SHAPE}; this is not a URL` }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { problem: SHAPE }
  if (url.username !== '' || url.password !== '') {
    return { problem: 'must not hold a user name or password: give the credential as the API key' }
  }
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text)) {
    return { problem: 'must not have a query or a fragment: paths are appended to it' }
  }
  return { url: url.origin + withoutTrailing(url.pathname, '/') }
}

/** True for an address on this machine: requests to it do not leave it. */
export function isLoopback(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl)
  return /^(?:(?:.+\.)?localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(hostname)
}

const VARIABLE = /\$\{([^}]*)\}/g
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Replaces `${NAME}` in every string of a settings value with the variable's value. A name that is unset or blank is a
 * problem at its place. Keys of objects stay as they are.
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
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      expandVariables(item, environment, `${path}.${key}`, problems),
    ]),
  )
}

function expandText(text: string, environment: Environment, path: string, problems: ConfigProblem[]): string {
  return text.replace(VARIABLE, (reference, name: string) => {
    if (!NAME.test(name)) {
      problems.push({ path, message: '"${…}" must hold the name of one environment variable' })
      return reference
    }
    const value = environment[name]?.trim() ?? ''
    if (value === '') problems.push({ path, message: `the environment variable ${name} is not set` })
    return value
  })
}
