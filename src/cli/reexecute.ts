import { type Environment, enterProduction, processEnvironment } from '../config.ts'

/**
 * Bun holds back all but 256 requests in flight, over all providers together, so that one slow provider would
 * stall the others. The bound is read once, when the process begins (measured on Bun 1.4.5: setting it later has
 * no effect), so the server begins again with a higher one.
 */
const VARIABLE = 'BUN_CONFIG_MAX_HTTP_REQUESTS'
/** The highest that Bun takes, and above every `SLUICE_MAX_IN_FLIGHT`: that setting is the bound that callers meet. */
const MAX_HTTP_REQUESTS = '65535'
/**
 * The engine collects garbage by how much memory the machine has, and a gateway relays far more than it keeps: told
 * of 256 MB, it keeps 100 streams of 4 MB that nobody reads at 80 MB in place of 730, at the same speed per request.
 */
const HEAP_VARIABLE = 'BUN_JSC_forceRAMSize'
const HEAP_SIZE_BYTES = String(256 * 1024 * 1024)

/** The command that runs this very program again: the binary, or `bun <flags> src/main.ts`. */
function ownCommand(): string[] {
  const isCompiled = /\$bunfs|~BUN/.test(import.meta.path)
  const program = isCompiled ? [] : [...process.execArgv, Bun.main]
  return [process.execPath, ...program, ...process.argv.slice(2)]
}

/**
 * What a server does before its program is loaded: libraries look at NODE_ENV when they are.
 * Begins this process again in place (same pid, same streams) unless the variable is set already, which is also
 * what ends the recursion. Returns null when there is nothing to do; where a process cannot replace itself, it
 * runs a child to its end and returns the child's exit code.
 */
export async function reexecute(platform: NodeJS.Platform = process.platform): Promise<number | null> {
  enterProduction()
  const environment = processEnvironment()
  if (environment[VARIABLE]) return null
  const raised = {
    [HEAP_VARIABLE]: HEAP_SIZE_BYTES,
    ...environment,
    ...directLoopback(environment),
    [VARIABLE]: MAX_HTTP_REQUESTS,
  }
  if (platform === 'win32' || process.execve === undefined) return runChild(ownCommand(), raised)
  // Defined values only: execve takes no holes.
  const entries = Object.entries(raised).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  )
  process.execve(process.execPath, ownCommand(), Object.fromEntries(entries))
  return null
}

const LOOPBACK = ['localhost', '127.0.0.1', '::1']

/** A model server on this machine is never asked through a proxy, whatever HTTP_PROXY says: the proxy cannot reach it. */
export function directLoopback(environment: Environment): Environment {
  const known = environment['NO_PROXY'] ?? environment['no_proxy'] ?? ''
  const hosts = known.split(',').filter((host) => host.trim() !== '')
  return { NO_PROXY: [...hosts, ...LOOPBACK.filter((host) => !hosts.includes(host))].join(',') }
}

async function runChild(command: string[], environment: Environment): Promise<number> {
  const child = Bun.spawn(command, {
    env: { ...environment },
    stdin: 'inherit',
    stdout: 'inherit',
    stderr: 'inherit',
  })
  const signals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK']
  const passOn = (signal: NodeJS.Signals): void => child.kill(signal)
  for (const signal of signals) process.on(signal, passOn)
  const exitCode = await child.exited
  for (const signal of signals) process.off(signal, passOn)
  return exitCode
}
