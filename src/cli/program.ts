import { Command, CommanderError } from 'commander'
import { ConfigError, settings } from '../config.ts'
import { CommandError, EXIT, processTerminal, type Terminal } from './terminal.ts'

/**
 * Runs one command line and returns its exit code. Commands are loaded when they are called, so `sluice version` does
 * not load the server.
 */
export async function run(words: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  // `sluice --json keys list` means `sluice keys list --json`, and `sluice --version` means `sluice version`.
  const sorted = words[0] === '--json' && words.length > 1 ? [...words.slice(1), '--json'] : words
  const args = sorted[0] === '--version' ? ['version', ...sorted.slice(1)] : sorted
  const isJson = args.includes('--json')
  try {
    if (args.every((arg) => arg === '--json'))
      return await (await import('./status.ts')).status(terminal, isJson)
    let exitCode: number = EXIT.ok
    const program = commandProgram(terminal, (code) => {
      exitCode = code
    })
    await program.parseAsync([...args], { from: 'user' })
    return exitCode
  } catch (error) {
    return explain(error, terminal, isJson)
  }
}

function explain(error: unknown, terminal: Terminal, isJson: boolean): number {
  // Commander throws after it has printed help, too: on request, or because a command was missing.
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok
  if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.usage
  const code = exitCodeOf(error)
  const lines = linesOf(error)
  if (isJson) terminal.note(JSON.stringify({ error: { code, message: lines.join('\n') } }))
  else for (const line of lines) terminal.note(`sluice: ${line}`)
  return code
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommandError) return error.exitCode
  return error instanceof ConfigError || error instanceof CommanderError ? EXIT.usage : EXIT.failed
}

function linesOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems
  const message = error instanceof Error ? error.message : String(error)
  return [error instanceof CommanderError ? message.replace(/^error: /, '') : message]
}

type Done = (exitCode: number) => void

/** Every command with its options: `run` parses with it, and docs/reference/cli.md is generated from it. */
export function commandProgram(terminal: Terminal, done: Done): Command {
  const program = new Command('sluice')
    .description('A self-hosted AI model gateway in one executable')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.note(text.trimEnd()),
      // `explain` prints the error.
      outputError: () => undefined,
    })
    .addHelpText(
      'after',
      '\nExit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 authentication, 5 unreachable',
    )
  addServe(program, terminal, done)
  addLocal(program, terminal, done)
  addBackups(program, terminal, done)
  addUsage(program, terminal, done)
  addKeys(program, terminal, done)
  addProviders(program, terminal, done)
  addModels(program, terminal, done)
  return program
}

const example = (line: string): string => `\nExample:\n  ${line}`
const json = (command: Command): Command => command.option('--json', 'print JSON')

function addServe(program: Command, terminal: Terminal, done: Done): void {
  const serve = program.command('serve').description('start the gateway')
  for (const { flag, meaning, variable } of Object.values(settings)) {
    if (flag !== undefined) serve.option(flag, `${meaning.replaceAll('`', '')} [${variable}]`)
  }
  json(
    serve.option(
      '--config <file>',
      'settings file; default sluice.yaml here, then in the data folder [SLUICE_CONFIG]',
    ),
  )
    .addHelpText('after', example('sluice serve --port 8080 --data /var/lib/sluice'))
    .action(async (options: Record<string, unknown>) =>
      done(await (await import('./serve.ts')).serveCommand(options, terminal)),
    )
}

function addLocal(program: Command, terminal: Terminal, done: Done): void {
  json(program.command('version').description('version, runtime and platform'))
    .addHelpText('after', example('sluice version --json'))
    .action(async (options) =>
      done((await import('./version.ts')).printVersion(terminal, options.json === true)),
    )

  json(
    program
      .command('doctor')
      .description('check port, data folder, database, secret key, clock, disk and providers'),
  )
    .option('--data <folder>', 'data folder')
    .option('--config <file>', 'settings file')
    .option('--destinations', 'send a test event to every enabled observability destination')
    .addHelpText('after', example('sluice doctor --data /var/lib/sluice'))
    .action(async (options) => done(await (await import('./doctor.ts')).doctor(options, terminal)))

  json(
    program
      .command('verify')
      .description('recompute every counter from the ledger rows and compare, to the nano-dollar'),
  )
    .argument('[folder]', 'data folder or a copy of one; the server may run')
    .option('--data <folder>', 'the same')
    .addHelpText('after', example('sluice verify ./sluice-data'))
    .action(async (folder: string | undefined, { data, json: isJson }) =>
      done(await (await import('./verify.ts')).verifyCommand(folder ?? data, isJson === true, terminal)),
    )
}

function addBackups(program: Command, terminal: Terminal, done: Done): void {
  json(program.command('backup').description('back up the data folder into a new folder; the server may run'))
    .argument('<folder>', 'a new folder, outside the data folder')
    .option('--data <folder>', 'data folder')
    .option('--with-secret-key', 'include secret.key: the backup alone can then decrypt all stored secrets')
    .addHelpText('after', example('sluice backup /backups/2027-01-31 --data /var/lib/sluice'))
    .action(async (folder: string, options) =>
      done(await (await import('./backup.ts')).backupCommand(folder, options, terminal)),
    )

  json(program.command('restore').description('restore a data folder from a backup and check its hashes'))
    .argument('<backup>', 'folder of a backup')
    .option('--data <folder>', 'data folder to create; it must be missing or empty')
    .option('--secret-key-file <file>', 'file with the secret key, which is stored in the data folder')
    .addHelpText('after', example('sluice restore /backups/2027-01-31 --data /var/lib/sluice'))
    .action(async (backup: string, options) =>
      done(await (await import('./backup.ts')).restoreCommand(backup, options, terminal)),
    )
}

function addUsage(program: Command, terminal: Terminal, done: Done): void {
  json(
    program
      .command('usage')
      .description('show usage and cost: through the server if SLUICE_KEY is set, else from the data folder'),
  )
    .option('--by <what>', 'day, model, provider, key, workspace, user or tag:<name>', 'day')
    .option('--since <when>', '12h, 7d (today and the 6 days before), 8w, or 2027-01-31', '30d')
    .option('--until <when>', 'a day or a time, such as 2027-02-01; default: now')
    .option('--csv', 'print CSV')
    .option('--data <folder>', 'data folder or a copy of one; the server may run')
    .addHelpText('after', example('sluice usage --by model --since 7d'))
    .action(async (options) => done(await (await import('./usage.ts')).usageCommand(options, terminal)))
}

function addKeys(program: Command, terminal: Terminal, done: Done): void {
  const keys = program
    .command('keys')
    .description('manage API keys through the server at SLUICE_URL, with a management key in SLUICE_KEY')
  json(keys.command('create').description('create an inference key and print it once'))
    .argument('<name>')
    .option('--limit <usd>', 'spending limit in USD')
    .option('--reset <interval>', 'when the limit resets: daily, weekly or monthly')
    .option('--expires <when>', 'expiry: 12h, 90d, 8w, or a UTC time such as 2027-01-31T00:00:00Z')
    .option('--workspace <id>', 'workspace id; default: the default workspace')
    .addHelpText('after', example('sluice keys create chatbot --limit 5 --reset monthly --expires 90d'))
    .action(async (name: string, options) =>
      done(await (await import('./keys.ts')).createKey(name, options, terminal)),
    )

  json(keys.command('list').description('list all keys with their usage'))
    .option('--workspace <id>', 'workspace id; default: the default workspace')
    .addHelpText('after', example('sluice keys list --json'))
    .action(async (options) => done(await (await import('./keys.ts')).listKeys(options, terminal)))

  json(keys.command('disable').description('disable a key; its next request is rejected'))
    .argument('<key>', 'name, label, hash or prefix of the hash; never the key itself')
    .addHelpText('after', example('sluice keys disable chatbot'))
    .action(async (key: string, options) =>
      done(await (await import('./keys.ts')).disableKey(key, options, terminal)),
    )

  json(
    keys
      .command('rotate')
      .description('create a replacement with the same settings, print it once and disable the old key'),
  )
    .argument('<key>', 'name, label, hash or prefix of the hash; never the key itself')
    .addHelpText('after', example('sluice keys rotate chatbot'))
    .action(async (key: string, options) =>
      done(await (await import('./keys.ts')).rotateKey(key, options, terminal)),
    )

  const renew = keys
    .command('renew-management')
    .description('replace all management keys by a new one; the server must be stopped')
    .option('--data <folder>', 'data folder')
    .option('--config <file>', 'settings file')
  json(renew)
    .addHelpText('after', example('sluice keys renew-management --data /var/lib/sluice'))
    .action(async (options) =>
      done(await (await import('./management-key.ts')).renewManagement(options, terminal)),
    )
}

function addProviders(program: Command, terminal: Terminal, done: Done): void {
  const providers = program
    .command('providers')
    .description('manage provider credentials, encrypted in the data folder; the server must be stopped')
  const local = (command: Command): Command =>
    json(command.option('--data <folder>', 'data folder').option('--config <file>', 'settings file'))

  local(providers.command('list').description('list the stored credentials by label'))
    .addHelpText('after', example('sluice providers list --json'))
    .action(async (options) => done(await (await import('./providers.ts')).listProviders(options, terminal)))

  local(providers.command('add').description('store a credential of a vendor; several are tried in order'))
    .argument('<vendor>', 'slug of the vendor, such as openai; never the credential itself')
    .option('--from-env <name>', 'read the credential from this environment variable')
    .option('--key-stdin', 'read the credential from stdin')
    .option('--base-url <url>', "address to use instead of the vendor's own, with the version segment")
    .addHelpText('after', example('sluice providers add openai --key-stdin < openai.key'))
    .action(async (vendor: string, options) =>
      done(await (await import('./providers.ts')).addProvider(vendor, options, terminal)),
    )

  local(providers.command('remove').description('delete a stored credential'))
    .argument('<vendor or id>', 'slug of the vendor if it has one credential, else the id of the credential')
    .addHelpText('after', example('sluice providers remove openai'))
    .action(async (reference: string, options) =>
      done(await (await import('./providers.ts')).removeProvider(reference, options, terminal)),
    )
}

function addModels(program: Command, terminal: Terminal, done: Done): void {
  const models = program
    .command('models')
    .description(
      'manage the model catalogue: through the server if SLUICE_KEY is set, else in the data folder',
    )
  json(models.command('refresh').description('show what newer model metadata would change, and apply it'))
    .option('--from <source>', 'URL or file in the models.dev form, or built-in; default: SLUICE_MODELS_URL')
    .option('--dry-run', 'show the changes without applying them')
    .option('--yes', 'apply the changes without asking')
    .option('--data <folder>', 'data folder; the server must be stopped')
    .option('--config <file>', 'settings file')
    .addHelpText('after', example('sluice models refresh --from api.json --yes'))
    .action(async (options) => done(await (await import('./models.ts')).refreshModels(options, terminal)))

  json(models.command('set').description('override the metadata or prices of a model'))
    .argument('<model>', 'such as openai/gpt-4o')
    .option('--provider <slug>', 'provider whose endpoint to override; default: all')
    .option('--price <prices>', 'USD per token by bucket, such as prompt=0.000002,completion=0.000008')
    .option('--alias <names>', 'additional names, comma-separated')
    .option('--name <name>', 'name shown in lists')
    .option('--hide', 'hide the model: it is neither listed nor callable')
    .option('--context <tokens>', 'context length')
    .option('--zdr <boolean>', 'zero data retention: true or false')
    .option('--regions <regions>', 'data regions: eu, us')
    .option('--expires <date>', 'date on which the model is withdrawn, such as 2027-01-31')
    .addHelpText(
      'after',
      example('sluice models set openai/gpt-4o --price prompt=0.000002,completion=0.000008'),
    )
    .action(async (model: string, options) =>
      done(await (await import('./model-overrides.ts')).setModel(model, options, terminal)),
    )

  json(models.command('unset').description('remove an override'))
    .argument('<model>', 'model of the override')
    .option('--provider <slug>', 'provider of the override')
    .addHelpText('after', example('sluice models unset openai/gpt-4o'))
    .action(async (model: string, options) =>
      done(await (await import('./model-overrides.ts')).unsetModel(model, options, terminal)),
    )

  json(models.command('history').description('show the price history of a model'))
    .argument('<model>', 'such as openai/gpt-4o')
    .option('--at <time>', 'only the prices at this time, such as 2026-01-31T12:00:00Z')
    .addHelpText('after', example('sluice models history openai/gpt-4o'))
    .action(async (model: string, options) =>
      done(await (await import('./models.ts')).showHistory(model, options, terminal)),
    )
}
