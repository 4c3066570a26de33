import { run } from './cli/program.ts'

const exitCode = await run(process.argv.slice(2))
// A server is over when it says so, whatever clock may still run; other commands end when their output is written.
if (process.argv[2] === 'serve') process.exit(exitCode)
process.exitCode = exitCode
