import { resolve } from 'node:path'
import { type ReadFile, readConfigFile } from './config/file.ts'
import { readMcpServers } from './config/mcp-servers.ts'
import {
  fileKey,
  fileProblems,
  reservedProblems,
  settingIn,
  unknownVariables,
  withLine,
} from './config/names.ts'
import { isLoopback } from './config/readers.ts'
import type { Setting } from './config/setting.ts'
import { settings } from './config/settings.ts'
import type { McpServer } from './core/mcp.ts'

export { settingAreas, settings } from './config/settings.ts'

type Settings = typeof settings
type SettingName = keyof Settings
type SettingValues = { readonly [K in SettingName]: Settings[K]['fallback'] }

export interface Config extends SettingValues {
  /** The data folder, absolute. */
  readonly data: string
  /** The settings file that was read; null without one. */
  readonly configFile: string | null
  /** `providers:` of the file, unchecked: `providers/entries.ts` reads it. */
  readonly providers: readonly unknown[]
  /** `models:` of the file, unchecked: `catalog/override-schema.ts` reads it. */
  readonly models: readonly unknown[]
  /** `mcp_servers:` of the file. */
  readonly mcpServers: readonly McpServer[]
  /** Provider credentials and `${NAME}` references are looked up here. */
  readonly environment: Environment
  /** Sentences for the log. They do not stop the start. */
  readonly warnings: readonly string[]
}

export type Environment = Readonly<Record<string, string | undefined>>
export type Flags = Readonly<Partial<Record<SettingName | 'config', string>>>

export interface ConfigSources {
  readonly flags?: Flags
  readonly environment?: Environment
  readonly workingFolder?: string
  /** Problems with the `providers:` of the file, to report all problems together. */
  readonly entryProblems?: (providers: readonly unknown[], environment: Environment) => readonly string[]
  /** Problems with `models:` and with the files that settings name. The settings may have problems themselves. */
  readonly fileProblems?: (config: Config) => Promise<readonly string[]>
}

/** Every problem with the settings. No line holds a secret. */
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
 * Libraries read NODE_ENV when they are loaded, and outside production they show callers too much. The server calls this
 * before it loads them; child processes inherit it.
 */
export function enterProduction(): void {
  Object.assign(process.env, { NODE_ENV: 'production' })
}

/** Reads all settings. Throws a `ConfigError` with every problem. Opens and creates nothing. */
export async function loadConfig(sources: ConfigSources = {}): Promise<Config> {
  const environment = sources.environment ?? processEnvironment()
  const flags = sources.flags ?? {}
  const folder = sources.workingFolder ?? process.cwd()
  const file = await readConfigFile(
    flags.config ?? (environment['SLUICE_CONFIG'] || undefined),
    folder,
    resolve(folder, flags.data ?? (environment[settings.data.variable] || settings.data.fallback)),
  )
  const readable = file !== null && 'values' in file ? file : null
  const problems = [...reservedProblems(environment), ...fileProblems(file, variables)]
  const values = readValues(flags, environment, readable, problems)
  const { providers, models } = readable?.values ?? {}
  const mcp = readMcpServers(readable?.values['mcp_servers'], environment)
  const config: Config = {
    ...values,
    data: resolve(folder, values.data),
    benchmarks: values.benchmarks === null ? null : resolve(folder, values.benchmarks),
    personNames: values.personNames === null ? null : resolve(folder, values.personNames),
    configFile: file?.path ?? null,
    providers: Array.isArray(providers) ? providers : [],
    models: Array.isArray(models) ? models : [],
    mcpServers: mcp.servers,
    environment,
    warnings: [...unknownVariables(environment, variables), ...risks(values)],
  }
  const further = [
    ...mcp.problems.map(({ path, message }) => `${path} ${message}`),
    ...(sources.entryProblems?.(config.providers, environment) ?? []),
    ...((await sources.fileProblems?.(config)) ?? []),
  ]
  problems.push(
    ...joinedProblems(values),
    ...further.map((problem) => (readable === null ? problem : withLine(problem, readable))),
  )
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

/** Every setting's value. One that cannot be read adds to `problems` and has its default. */
function readValues(
  flags: Flags,
  environment: Environment,
  file: ReadFile | null,
  problems: string[],
): SettingValues {
  const values: Record<string, unknown> = {}
  for (const name of settingNames) {
    const { variable, flag, fallback, read, others = [] }: Setting<unknown> = settings[name]
    const set = flags[name] ?? (environment[variable] || undefined)
    const own = set ?? file?.values[fileKey(variable)] ?? undefined
    const other = own === undefined ? others.find((each) => environment[each]) : undefined
    const raw = other === undefined ? own : environment[other]
    values[name] = fallback
    if (raw === undefined) continue
    try {
      values[name] = read(raw)
    } catch (error) {
      const flagName = flags[name] === undefined ? undefined : flag?.split(' ')[0]
      const isInFile = set === undefined && other === undefined && file !== null
      const place = isInFile ? settingIn(file, variable) : (other ?? flagName ?? variable)
      problems.push(`${place} ${error instanceof Error ? error.message : error}`)
    }
  }
  if (!isComplete(values)) throw new Error('a setting has no value')
  return values
}

/** True once every setting has its value or its default. */
const isComplete = (values: Record<string, unknown>): values is Record<string, unknown> & SettingValues =>
  settingNames.every((name) => name in values)

/** Settings that are valid but dangerous. */
const risks = ({ oidcIssuer }: SettingValues): string[] =>
  oidcIssuer?.startsWith('http:') && !isLoopback(new URL(oidcIssuer).hostname.replace(/^\[|\]$/g, ''))
    ? [
        'SLUICE_OIDC_ISSUER is not an https address: an attacker between it and this server can sign in as anyone',
      ]
    : []

function joinedProblems(values: SettingValues): string[] {
  const problems: string[] = []
  if (values.managementKey !== null && values.managementKey === values.apiKey) {
    problems.push(
      'SLUICE_MANAGEMENT_KEY and SLUICE_API_KEY must differ: one is for administration, the second for inference',
    )
  }
  if (values.metricsPort !== null && values.metricsPort !== 0 && values.metricsPort === values.port) {
    problems.push('SLUICE_METRICS_PORT and SLUICE_PORT must differ: /metrics is served at both')
  }
  if (values.metricsToken !== null && [values.managementKey, values.apiKey].includes(values.metricsToken)) {
    problems.push('SLUICE_METRICS_TOKEN must differ from the keys: it may read metrics and nothing else')
  }
  if (values.adminPassword !== null && values.adminEmail === null) {
    problems.push('SLUICE_ADMIN_PASSWORD needs SLUICE_ADMIN_EMAIL too')
  }
  if ((values.oidcIssuer === null) !== (values.oidcClientId === null)) {
    problems.push('SLUICE_OIDC_ISSUER and SLUICE_OIDC_CLIENT_ID need each other: set both or neither')
  }
  return problems
}
