import { readEntries } from '../../src/providers/entries.ts'
import { defaults } from './defaults.ts'

/** Reads the `providers:` of a configuration file. */
export const readYaml = (yaml: string, environment: Record<string, string> = {}) => {
  const file: unknown = Bun.YAML.parse(yaml)
  if (typeof file !== 'object' || file === null || !('providers' in file))
    throw new Error('no providers in the test')
  return readEntries(file.providers, environment, defaults)
}
