import { version } from '../version.ts'
import { EXIT, printJson, type Terminal } from './terminal.ts'

export function printVersion(terminal: Terminal, isJson: boolean): number {
  const platform = `${process.platform}-${process.arch}`
  if (isJson) printJson(terminal, { version, bun: Bun.version, platform })
  else terminal.print(`sluice ${version} (bun ${Bun.version}, ${platform})`)
  return EXIT.ok
}
