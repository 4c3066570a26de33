import type { Flags } from '../config.ts'
import { serve } from '../server/serve.ts'
import { exposure, loadServerConfig } from './server-config.ts'
import type { Terminal } from './terminal.ts'

/** Runs the gateway until it stops. Returns the exit code. */
export const serveCommand = async (flags: Flags, terminal: Terminal): Promise<number> =>
  serve(await loadServerConfig(flags, terminal, exposure))
