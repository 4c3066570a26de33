/** A working folder for each test, and the configuration that is loaded from it. */
import { afterAll, beforeEach } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, ConfigError, type ConfigSources, loadConfig } from '../../src/config.ts'

/** A bootstrap key of one letter. */
export const keyOf = (letter: string): string => letter.repeat(32)

export function openSources() {
  const root = mkdtempSync(join(tmpdir(), 'sluice-config-'))
  let folder = root
  afterAll(() => rmSync(root, { recursive: true }))
  beforeEach(() => {
    folder = mkdtempSync(join(root, 'case-'))
  })
  const load = (sources: ConfigSources = {}): Promise<Config> =>
    loadConfig({ environment: {}, workingFolder: folder, ...sources })
  return {
    /** The path of a file in the working folder. */
    path: (name: string): string => join(folder, name),
    write(name: string, content: string): string {
      const path = join(folder, name)
      writeFileSync(path, content)
      return path
    },
    load,
    async problemsOf(sources: ConfigSources): Promise<readonly string[]> {
      const outcome = await load(sources).catch((error: unknown) => error)
      if (!(outcome instanceof ConfigError))
        throw new Error(`expected a ConfigError, got ${Bun.inspect(outcome)}`)
      return outcome.problems
    },
  }
}
