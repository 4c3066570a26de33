import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { makeBackup } from '../backup/make.ts'
import type { Manifest } from '../backup/manifest.ts'
import { type RestoreOptions, restoreBackup } from '../backup/restore.ts'
import { DATABASE_FILE } from '../db/database.ts'
import { parseSecretKey } from '../db/seal.ts'
import { CommandError, EXIT, printJson, type Terminal } from './terminal.ts'
import { dataFolder, verifyAll } from './verify.ts'

type Options = Readonly<Record<string, unknown>>

/** Requires no lock, key or settings. Also exits 1 if uploaded files of the ledger are missing in the backup. */
export async function backupCommand(folder: string, options: Options, terminal: Terminal): Promise<number> {
  const target = resolve(folder)
  const withSecretKey = options['withSecretKey'] === true
  const data = dataFolder(terminal, options['data'])
  if (!existsSync(join(data, DATABASE_FILE)))
    throw new CommandError(EXIT.notFound, `There is no data folder at ${data}: name it with --data`)
  const manifest = await makeBackup(data, target, {
    withSecretKey,
    now: Date.now,
  })
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0)
  if (options['json'] === true) {
    printJson(terminal, {
      ok: manifest.lacking.length === 0,
      path: target,
      made_at: manifest.madeAt,
      files: manifest.files.length,
      bytes,
      schema: manifest.schema,
      secret_key_id: manifest.secretKeyId,
      has_secret_key: manifest.hasSecretKey,
      lacking: manifest.lacking,
    })
  } else {
    for (const path of manifest.lacking) terminal.note(`${path} is missing and was not backed up`)
    terminal.print(`${target}: ${manifest.files.length} files, ${bytes} bytes`)
    terminal.print(secretKeyNote(manifest))
  }
  return manifest.lacking.length === 0 ? EXIT.ok : EXIT.failed
}

function secretKeyNote({ secretKeyId, hasSecretKey }: Manifest): string {
  if (hasSecretKey)
    return 'The secret key is included: anyone with this folder can decrypt the stored secrets'
  if (secretKeyId === null) return 'It has no encrypted data, so it needs no secret key'
  return `The secret key ${secretKeyId} (secret.key or SLUICE_SECRET_KEY) is not included: keep it elsewhere, it is needed to decrypt the stored secrets`
}

/** Also exits 1 if the restored ledger does not verify; the restored folder stays. */
export async function restoreCommand(backup: string, options: Options, terminal: Terminal): Promise<number> {
  if (!existsSync(backup)) throw new CommandError(EXIT.notFound, `There is no backup at ${resolve(backup)}`)
  const data = dataFolder(terminal, options['data'])
  const secretKey = secretKeyOf(options['secretKeyFile'], terminal)
  const { manifest, secretKey: outcome, isOlder } = await restoreBackup(resolve(backup), data, { secretKey })
  const verdict = isOlder ? null : verifyAll(join(data, DATABASE_FILE))
  const isOk = verdict?.isOk ?? true
  if (options['json'] === true) {
    printJson(terminal, {
      ok: isOk,
      path: data,
      made_at: manifest.madeAt,
      version: manifest.version,
      files: manifest.files.length,
      secret_key: outcome,
      secret_key_id: manifest.secretKeyId,
      lacking: manifest.lacking,
      verify: verdict?.json ?? null,
    })
    return isOk ? EXIT.ok : EXIT.failed
  }
  terminal.print(`${data}: ${manifest.files.length} files as they were backed up at ${manifest.madeAt}`)
  if (outcome === 'fits') terminal.print(`The secret key ${manifest.secretKeyId} fits the data`)
  if (outcome === 'missing')
    terminal.note(
      `The secret key ${manifest.secretKeyId} is not in the backup: put it into ${join(data, 'secret.key')} or ` +
        'SLUICE_SECRET_KEY before the start: the server does not start without it',
    )
  if (verdict === null)
    terminal.note(
      'The backup is of an older version: the next start migrates it, and then sluice verify can read it',
    )
  for (const line of verdict?.lines ?? []) terminal.print(line)
  return isOk ? EXIT.ok : EXIT.failed
}

/** A key from a file is stored in the folder; one from the environment is not. */
function secretKeyOf(file: unknown, terminal: Terminal): RestoreOptions['secretKey'] {
  if (typeof file === 'string') {
    let text: string
    try {
      text = readFileSync(file, 'utf8')
    } catch {
      throw new CommandError(EXIT.usage, `--secret-key-file ${file} cannot be read`)
    }
    return { key: keyIn(text, file), from: file, isKept: true }
  }
  const fromEnvironment = terminal.environment['SLUICE_SECRET_KEY']
  return fromEnvironment
    ? { key: keyIn(fromEnvironment, 'SLUICE_SECRET_KEY'), from: 'SLUICE_SECRET_KEY', isKept: false }
    : undefined
}

function keyIn(text: string, from: string): Uint8Array {
  try {
    return parseSecretKey(text, from)
  } catch (error) {
    throw new CommandError(EXIT.usage, error instanceof Error ? error.message : String(error))
  }
}
