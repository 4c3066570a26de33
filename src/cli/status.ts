import { openClient } from './client.ts'
import { EXIT, paint, printJson, type Terminal } from './terminal.ts'

const PATIENCE_MS = 2000

/** Prints the state of the server at SLUICE_URL, or how to start one. */
export async function status(terminal: Terminal, isJson: boolean): Promise<number> {
  const client = openClient(terminal.environment)
  const answer = await client.probe('/health/ready', PATIENCE_MS)
  const isSluice = answer !== null && (answer.status === 200 || answer.status === 503)
  const state = !isSluice ? 'absent' : answer.status === 200 ? 'ready' : 'not ready'
  if (isJson) {
    printJson(terminal, { url: client.root, status: state })
    return EXIT.ok
  }
  if (isSluice) {
    const colour = state === 'ready' ? 'green' : 'yellow'
    terminal.print(`Sluice at ${client.root} is ${paint(terminal, colour, state)}`)
    return EXIT.ok
  }
  terminal.print(
    [
      `No Sluice answers at ${client.root}. To begin:`,
      '  sluice serve     start one; it prints two keys and a curl to try',
      '  sluice --help    all commands',
    ].join('\n'),
  )
  return EXIT.ok
}
