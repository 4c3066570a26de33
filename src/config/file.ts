import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'

/** `problem` completes the sentence "<path> …" and never quotes the file: it may hold secrets. */
export type ConfigFile =
  | { readonly path: string; readonly values: Readonly<Record<string, unknown>> }
  | { readonly path: string; readonly problem: string }

/**
 * Reads the file that SLUICE_CONFIG names, else `sluice.yaml` of the working folder, else that of the data
 * folder; null when none was named and neither is there.
 */
export async function readConfigFile(
  named: string | undefined,
  workingFolder: string,
  dataFolder: string,
): Promise<ConfigFile | null> {
  if (named !== undefined) return readYaml(resolve(workingFolder, named))
  const path = [workingFolder, dataFolder].map((folder) => resolve(folder, 'sluice.yaml')).find(existsSync)
  return path === undefined ? null : readYaml(path)
}

async function readYaml(path: string): Promise<ConfigFile> {
  let source: string
  try {
    source = readFileSync(path, 'utf8')
  } catch (error) {
    return { path, problem: `cannot be read: ${whyUnreadable(error)}` }
  }
  const repeated = repeatedKey(source)
  if (repeated !== undefined) return { path, problem: `has the key ${repeated} twice` }
  let values: unknown
  try {
    values = Bun.YAML.parse(source)
  } catch (error) {
    return { path, problem: `is not YAML: ${await whereItBreaks(path, error)}` }
  }
  if (values === null || values === undefined) return { path, values: {} }
  if (!isRecord(values)) return { path, problem: 'must hold settings as `name: value`, one document' }
  return { path, values }
}

/** `Bun.YAML.parse` keeps the position of an error to itself; the module loader's parser tells it. */
async function whereItBreaks(path: string, error: unknown): Promise<string> {
  const reason = error instanceof Error ? error.message.replace(/^YAML Parse error: /, '') : String(error)
  try {
    await import(path, { with: { type: 'yaml' } })
  } catch (located) {
    if (located instanceof BuildMessage && located.position !== null) {
      return `${reason} in line ${located.position.line}, column ${located.position.column}`
    }
  }
  return reason
}

/** YAML lets the last of two equal keys win without a word; for settings that hides a mistake. */
function repeatedKey(source: string): string | undefined {
  const seen = new Set<string>()
  for (const [, key] of source.matchAll(/^([A-Za-z_][\w-]*)[ \t]*:(?=\s|$)/gm)) {
    if (key !== undefined && seen.has(key)) return key
    if (key !== undefined) seen.add(key)
  }
  return undefined
}

const whyUnreadable = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EISDIR') return 'it is a folder'
  return code === 'EACCES' ? 'permission denied' : String(code ?? error)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
