import { resolve } from 'node:path'
import { type ConfigFile, readConfigFile } from './config/file.ts'
import { fileKey, fileProblems, reservedProblems, unknownVariables } from './config/names.ts'
import { isLoopback } from './config/readers.ts'
import { settings } from './config/settings.ts'

export { settingAreas, settings } from './config/settings.ts'

type Settings = typeof settings
type SettingName = keyof Settings
type SettingValues = { readonly [K in SettingName]: Settings[K]['fallback'] }

export interface Config extends SettingValues {
  /** The data folder, absolute. */
  readonly data: string
  /** The settings file that was read; null without one. */
  readonly configFile: string | null
  /** The file's `providers:` list as it came: `providers/entries.ts` reads it. */
  readonly providers: readonly unknown[]
  /** The file's `models:` list as it came: `catalog/override-schema.ts` reads it. */
  readonly models: readonly unknown[]
  /** Provider credentials and `${NAME}` references are looked up here. */
  readonly environment: Environment
  /** Sentences for the log: nothing that stops a start. */
  readonly warnings: readonly string[]
}

export type Environment = Readonly<Record<string, string | undefined>>
export type Flags = Readonly<Partial<Record<SettingName | 'config', string>>>

export interface ConfigSources {
  readonly flags?: Flags
  readonly environment?: Environment
  readonly workingFolder?: string
  /** What is wrong with the file's `providers:`, so that all problems are told together. */
  readonly entryProblems?: (providers: readonly unknown[], environment: Environment) => readonly string[]
  /** The same for the file's `models:`, the file of scores and that of names; the settings may have problems of their own. */
  readonly fileProblems?: (config: Config) => readonly string[]
}

/** All that is wrong with the settings, at once. No line holds a secret. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
  }
}

const settingNames = Object.keys(settings).filter((name): name is SettingName => name in settings)
const variables = settingNames.map((name) => settings[name].variable)
/** The one place where the process's environment is read. */
export const processEnvironment = (): Environment => process.env

/**
 * Libraries look at NODE_ENV when they are loaded, and outside production they tell callers more than they should.
 * The server calls this before it loads them; new processes inherit it.
 */
export function enterProduction(): void {
  Object.assign(process.env, { NODE_ENV: 'production' })
}

/** Reads all settings. Throws a `ConfigError` with every problem; nothing is opened or made. */
export async function loadConfig(sources: ConfigSources = {}): Promise<Config> {
  const environment = sources.environment ?? processEnvironment()
  const flags = sources.flags ?? {}
  const folder = sources.workingFolder ?? process.cwd()
  const said = (name: SettingName): string | undefined =>
    flags[name] ?? (environment[settings[name].variable] || undefined)

  const file = await readConfigFile(
    flags.config ?? (environment['SLUICE_CONFIG'] || undefined),
    folder,
    resolve(folder, said('data') ?? settings.data.fallback),
  )
  const problems = [...reservedProblems(environment), ...fileProblems(file, variables)]
  const fromFile = file !== null && 'values' in file ? file.values : {}

  const values: Record<string, unknown> = {}
  for (const name of settingNames) {
    const { variable, fallback, read: readValue } = settings[name]
    const raw = said(name) ?? fromFile[fileKey(variable)] ?? undefined
    values[name] = fallback
    if (raw === undefined) continue
    try {
      values[name] = readValue(raw)
    } catch (error) {
      problems.push(
        `${sayWhere(name, flags, environment, file)} ${error instanceof Error ? error.message : error}`,
      )
    }
  }
  if (!isComplete(values)) throw new Error('a setting has no value')
  const providers = Array.isArray(fromFile['providers']) ? fromFile['providers'] : []
  const models = Array.isArray(fromFile['models']) ? fromFile['models'] : []
  const config: Config = {
    ...values,
    data: resolve(folder, values.data),
    benchmarks: values.benchmarks === null ? null : resolve(folder, values.benchmarks),
    personNames: values.personNames === null ? null : resolve(folder, values.personNames),
    configFile: file?.path ?? null,
    providers,
    models,
    environment,
    warnings: [...unknownVariables(environment, variables), ...risks(values)],
  }
  problems.push(
    ...joinedProblems(values),
    ...(sources.entryProblems?.(providers, environment) ?? []),
    ...(sources.fileProblems?.(config) ?? []),
  )
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

/** Every value was put there by its own setting's reader or default. */
const isComplete = (values: Record<string, unknown>): values is Record<string, unknown> & SettingValues =>
  settingNames.every((name) => name in values)

function sayWhere(
  name: SettingName,
  flags: Flags,
  environment: Environment,
  file: ConfigFile | null,
): string {
  const { variable, flag } = settings[name]
  if (flags[name] !== undefined) return flag?.split(' ')[0] ?? variable
  return environment[variable] ? variable : `${variable} (${fileKey(variable)} in ${file?.path})`
}

/** What may be meant so, and is still to be known. */
const risks = ({ oidcIssuer }: SettingValues): string[] =>
  oidcIssuer?.startsWith('http:') && !isLoopback(new URL(oidcIssuer).hostname.replace(/^\[|\]$/g, ''))
    ? [
        'SLUICE_OIDC_ISSUER is no https address: whoever is on the way between it and this server can sign in as anyone',
      ]
    : []

function joinedProblems(values: SettingValues): string[] {
  const problems: string[] = []
  if (values.managementKey !== null && values.managementKey === values.apiKey) {
    problems.push('SLUICE_MANAGEMENT_KEY and SLUICE_API_KEY must differ: one administers, the other infers')
  }
  if (values.adminPassword !== null && values.adminEmail === null) {
    problems.push('SLUICE_ADMIN_PASSWORD needs SLUICE_ADMIN_EMAIL too')
  }
  if ((values.oidcIssuer === null) !== (values.oidcClientId === null)) {
    problems.push('SLUICE_OIDC_ISSUER and SLUICE_OIDC_CLIENT_ID need each other: set both or neither')
  }
  return problems
}
