import type { Argument, Command, Option } from 'commander'
import { commandProgram } from '../../src/cli/program.ts'
import { code, note, table } from './markdown.ts'

/** docs/reference/cli.md. */
export function cliPage(): string {
  return `# Command line

After this page you can use every command of \`sluice\`.

${note('`src/cli/program.ts`')}

\`sluice\` alone shows the state of the server at \`SLUICE_URL\` (default \`http://127.0.0.1:4141\`). Commands that call the server send the key in \`SLUICE_KEY\`. \`--json\` works with every command, before or after its name; errors then are JSON on stderr. No command asks a question without a terminal.

${table(['Exit code', 'Meaning'], EXIT_CODES)}

${leavesOf(program())
  .map(({ words, command }) => sectionOf(words, command))
  .join('\n\n')}
`
}

const EXIT_CODES = [
  ['0', 'success'],
  ['1', 'the command failed, or a check found a difference'],
  ['2', 'wrong usage or settings'],
  ['3', 'not found'],
  ['4', 'the key is missing or not allowed'],
  ['5', 'the server cannot be reached'],
]

export interface Leaf {
  /** `sluice keys create`. */
  readonly words: string
  readonly command: Command
}

export function program(): Command {
  const silent = { environment: {}, print() {}, note() {}, input: async () => '', hasColor: false }
  return commandProgram(silent, () => undefined)
}

/** The commands that do something, in the order of the help. */
export const leavesOf = (command: Command, above = ''): Leaf[] => {
  const words = `${above} ${command.name()}`.trim()
  if (command.commands.length === 0) return [{ words, command }]
  return command.commands.flatMap((child) => leavesOf(child, words))
}

function sectionOf(words: string, command: Command): string {
  const rows = [...command.registeredArguments.map(argumentRow), ...command.options.map(optionRow)]
  return `## ${words}

${sentence(command.description())}

${table(['Argument or option', 'What it does'], rows)}

\`\`\`console
$ ${exampleOf(command)}
\`\`\``
}

const argumentRow = (argument: Argument): string[] => [
  code(argument.required ? `<${argument.name()}>` : `[${argument.name()}]`),
  sentence(argument.description),
]

const optionRow = ({ flags, description, defaultValue }: Option): string[] => [
  code(flags),
  sentence(description) + (defaultValue === undefined ? '' : ` Default: \`${defaultValue}\`.`),
]

const sentence = (text: string): string =>
  text === '' ? '' : `${text[0]?.toUpperCase()}${text.slice(1).replace(/\.?( \[\w+\])?$/, '$1')}.`

/** The example of the command's help. */
function exampleOf(command: Command): string {
  const written: string[] = []
  command.configureOutput({ writeOut: (text) => written.push(text) }).outputHelp()
  const [, example] = /\nExample:\n {2}(.+)/.exec(written.join('')) ?? []
  if (example === undefined) throw new Error(`${command.name()} has no example in its help`)
  return example
}
