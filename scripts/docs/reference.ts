import { join } from 'node:path'
import { apiPage } from './api.ts'
import { cliPage } from './cli.ts'
import { providersPage } from './providers.ts'
import { servedOperations } from './served-api.ts'
import { settingsPage } from './settings.ts'

export const REFERENCE = join(import.meta.dir, '../../docs/reference')

/** The generated pages by file name. */
export const referencePages = async (): Promise<Record<string, string>> => ({
  'settings.md': settingsPage(),
  'cli.md': cliPage(),
  'api.md': apiPage(await servedOperations()),
  'providers.md': providersPage(),
})
