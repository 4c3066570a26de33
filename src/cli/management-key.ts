import { labelOf } from '../core/keys.ts'
import { renewManagementKey } from '../server/first-run.ts'
import { configOf, type Options, openKnownFolder, within } from './local.ts'
import { EXIT, printJson, type Terminal } from './terminal.ts'

/**
 * Creates a management key and prints it once. Created management keys are disabled from the next start on; a key in the
 * settings stays valid.
 */
export async function renewManagement(options: Options, terminal: Terminal): Promise<number> {
  const config = await configOf(options, terminal)
  const { key, disabled } = await within(openKnownFolder(config), ({ database }) =>
    renewManagementKey(database),
  )
  if (options['json'] === true) {
    printJson(terminal, { key, data: { label: labelOf(key), disabled } })
    return EXIT.ok
  }
  terminal.print(key)
  const earlier =
    disabled.length === 0 ? 'There was no earlier one' : `Refused from now on: ${disabled.join(', ')}`
  // On stderr, so that `$(sluice keys renew-management)` is only the key.
  terminal.note(`Created a management key; it is shown only once. ${earlier}`)
  if (config.managementKey !== null) terminal.note('SLUICE_MANAGEMENT_KEY is set, and stays valid')
  return EXIT.ok
}
