import { reexecute } from './cli/reexecute.ts'

const words = process.argv.slice(2)
const isServer = words.find((word) => !word.startsWith('-')) === 'serve'
// All else is loaded afterwards, so that a server loads its program once.
const exitCode =
  (isServer ? await reexecute() : null) ?? (await (await import('./cli/program.ts')).run(words))
// A server exits when it returns, even if timers still run. A command exits once its output is written.
if (isServer) process.exit(exitCode)
process.exitCode = exitCode
