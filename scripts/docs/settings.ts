import { fileKey } from '../../src/config/names.ts'
import type { Setting } from '../../src/config/setting.ts'
import { settingAreas } from '../../src/config.ts'
import { code, note, table } from './markdown.ts'

/** docs/reference/settings.md. */
export function settingsPage(): string {
  const sections = Object.entries(settingAreas).map(([title, settings]) => {
    const rows = Object.values(settings).map(rowOf)
    return `## ${title}\n\n${table(['Variable', 'Flag', 'Type or unit', 'Default', 'What it does'], rows)}`
  })
  return `# Settings

After this page you can change every setting of the server.

${note('`src/config/settings`')}

A setting is read from the flag of \`sluice serve\`, else from the environment, else from \`sluice.yaml\`, else it has its default. The key in \`sluice.yaml\` is the variable without \`SLUICE_\` in lower case: \`SLUICE_PORT\` is \`${fileKey('SLUICE_PORT')}\`. Lists are comma-separated in variables, and lists in the file. A start reports all problems at once, with the name of each setting.

The file is the one that \`SLUICE_CONFIG\` or \`--config\` names, else \`sluice.yaml\` of the working folder, else that of the data folder. It may also hold \`providers:\` and \`models:\`. \`SLUICE_DATABASE_URL\` and \`SLUICE_VALKEY_URL\` are reserved: the server does not start if one is set. \`SLUICE_URL\` and \`SLUICE_KEY\` are read by the [command line](cli.md), not by the server. The variables of [providers](providers.md) are credentials and addresses.

${sections.join('\n\n')}
`
}

function rowOf({ variable, flag, type, fallback, meaning }: Setting<unknown>): string[] {
  return [code(variable), flag === undefined ? '' : code(flag.split(' ')[0]), type, shown(fallback), meaning]
}

const shown = (value: unknown): string => {
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return ''
  return code(value === true ? 'on' : value === false ? 'off' : String(value))
}
