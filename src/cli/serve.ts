import { enterProduction, type Flags } from '../config.ts'
import { reexecute } from './reexecute.ts'
import type { Terminal } from './terminal.ts'

/** Runs the gateway until it is told to stop; answers the exit code. All else is loaded after the new beginning. */
export async function serveCommand(flags: Flags, terminal: Terminal): Promise<number> {
  enterProduction()
  const exitCode = await reexecute()
  if (exitCode !== null) return exitCode
  const { exposure, loadServerConfig } = await import('./server-config.ts')
  const config = await loadServerConfig(flags, terminal, exposure)
  const { serve } = await import('../serve.ts')
  return serve(config)
}
