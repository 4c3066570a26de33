import { type Environment, enterProduction, processEnvironment } from '../config.ts'

/**
 * Bun runs at most 256 concurrent fetches over all hosts, so one slow provider would stall all providers. It reads the
 * limit once, at process start (measured on Bun 1.4.5: setting it later has no effect), so the server re-executes itself
 * with a higher one.
 */
const VARIABLE = 'BUN_CONFIG_MAX_HTTP_REQUESTS'
/** The highest value that Bun accepts. It exceeds every `SLUICE_MAX_IN_FLIGHT`, which is the limit that callers meet. */
const MAX_HTTP_REQUESTS = '65535'
/**
 * JavaScriptCore sizes its heap by the memory of the machine, but a gateway relays far more data than it stores: with
 * 1 GB, 100 unread streams of 4.6 MB take 200 MB more. Once the process exceeds nine tenths of this size, every second
 * collection is a full one: with 256 MB, 3,500 answers of 200 kB cause 54 to 83 full ones, with 512 MB 31.
 */
const HEAP_VARIABLE = 'BUN_JSC_forceRAMSize'
const HEAP_SIZE_BYTES = String(512 * 1024 * 1024)
/**
 * With one marker thread the main thread marks part of the heap itself. With two, the longest stop of 18 hostile replies
 * took 46 to 72 ms of its processor time in three runs on two cores, not 76 to 87; the process took as much as before.
 */
const MARKERS_VARIABLE = 'BUN_JSC_numberOfGCMarkers'
/**
 * Bun's allocator returns freed memory to the system after 10 ms, and takes it back page by page for the next answers.
 * With half a second, an answer causes 1.7 page faults instead of 3.6, a stream in one write 3 instead of 8. Answers of
 * 200 kB cost a fifth less processor time with this and the heap's size, and some 60 MB more at their peak.
 */
const PURGE_VARIABLE = 'MIMALLOC_PURGE_DELAY'
const PURGE_DELAY_MS = '500'

/** The command that runs this program: the binary, or `bun <flags> src/main.ts`. */
function ownCommand(): string[] {
  const isCompiled = /\$bunfs|~BUN/.test(import.meta.path)
  const program = isCompiled ? [] : [...process.execArgv, Bun.main]
  return [process.execPath, ...program, ...process.argv.slice(2)]
}

/**
 * Runs before the program is loaded, because libraries read NODE_ENV when they are. Re-executes this process in place
 * (same pid, same streams) unless the variable is set, which ends the recursion. Returns null if nothing is to do. On
 * platforms without `execve` it runs a child and returns its exit code.
 */
export async function reexecute(platform: NodeJS.Platform = process.platform): Promise<number | null> {
  enterProduction()
  const environment = processEnvironment()
  if (environment[VARIABLE]) return null
  const raised = {
    [HEAP_VARIABLE]: HEAP_SIZE_BYTES,
    [MARKERS_VARIABLE]: '2',
    [PURGE_VARIABLE]: PURGE_DELAY_MS,
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

/** Model servers on this machine are called directly, even if HTTP_PROXY is set: the proxy cannot reach them. */
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
