import { type Environment, processEnvironment } from '../config.ts'

/** Exit codes, which scripts may rely on. */
export const EXIT = { ok: 0, failed: 1, usage: 2, notFound: 3, auth: 4, unreachable: 5 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** A failed command. `message` is for the person at the terminal. */
export class CommandError extends Error {
  constructor(
    readonly exitCode: ExitCode,
    message: string,
  ) {
    super(message)
    this.name = 'CommandError'
  }
}

/** The environment, input and output of a command. */
export interface Terminal {
  readonly environment: Environment
  /** The result, to stdout: one or more lines. */
  print(text: string): void
  /** Notes and errors, to stderr. */
  note(text: string): void
  /** Reads stdin to its end. */
  input(): Promise<string>
  readonly hasColor: boolean
  /** Asks a question at the terminal; absent without a terminal. */
  readonly confirm?: (question: string) => Promise<boolean>
}

export function processTerminal(): Terminal {
  const environment = processEnvironment()
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe)
  return {
    environment,
    print: (text) => void process.stdout.write(`${text}\n`),
    note: (text) => void process.stderr.write(`${text}\n`),
    input: () => Bun.stdin.text(),
    // https://no-color.org: any value but an empty one.
    hasColor: process.stdout.isTTY === true && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb',
    ...(process.stdin.isTTY === true && process.stdout.isTTY === true ? { confirm: askYesNo } : {}),
  }
}

/** A closed pipe, as in `sluice doctor | head -1`, is not a failure of the command. */
function ignoreClosedPipe(error: Error): void {
  if (!('code' in error) || error.code !== 'EPIPE') throw error
}

/** Any reply but yes means no. */
async function askYesNo(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim())
  } finally {
    lines.close()
  }
}

const codes = { green: 32, yellow: 33, red: 31, dim: 2 }

export const paint = (terminal: Terminal, color: keyof typeof codes, text: string): string =>
  terminal.hasColor ? `\u001b[${codes[color]}m${text}\u001b[0m` : text

export const printJson = (terminal: Terminal, value: unknown): void =>
  terminal.print(JSON.stringify(value, null, 2))

/** Columns as wide as their widest cell, two spaces between, nothing at the end of a line. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows]
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
