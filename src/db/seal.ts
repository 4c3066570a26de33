import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import type { Database } from './database.ts'
import { meta } from './tables.ts'

const SECRET_FILE = 'secret.key'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const CHECK_NAME = 'secret_check'

/** Where a sealed value is stored. A value that was moved to another place cannot be opened. */
export interface Place {
  table: string
  column: string
  rowId: string
  /** Whose row it is, where rows of several workspaces lie in one table. */
  workspaceId?: string
  /** The destination of the value in the row: if the row changes, the value cannot be decrypted. */
  sentTo?: readonly string[]
}

/** The place that a BYOK key is sealed to. */
export const byokPlace = (row: { id: string; workspace_id: string; provider: string }): Place => ({
  table: 'byok_keys',
  column: 'sealed_key',
  rowId: row.id,
  workspaceId: row.workspace_id,
  sentTo: [row.provider],
})

/** Where the config of an observability destination is sealed to. */
export const destinationPlace = (row: { id: string; workspace_id: string }): Place => ({
  table: 'observability_destinations',
  column: 'sealed_config',
  rowId: row.id,
  workspaceId: row.workspace_id,
})

export interface Sealer {
  /** Names the secret key without telling it: eight hex digits. */
  readonly keyId: string
  /** `v1.<key id>.<nonce>.<ciphertext and tag>` (base64url), AES-256-GCM. Never the same twice. */
  seal(secret: string, place: Place): string
  /** Throws when the value was made with another key, for another place, or was changed. */
  open(sealed: string, place: Place): string
  /** The same for bytes: version (1), key id (4), nonce (12), ciphertext and tag. A key of its own for each place. */
  sealBytes(secret: Uint8Array, place: Place): Uint8Array
  openBytes(sealed: Uint8Array, place: Place): Uint8Array
}

const placeOf = ({ table, column, rowId, workspaceId, sentTo = [] }: Place): Buffer =>
  Buffer.from(
    [table, column, rowId, ...(workspaceId === undefined ? [] : [workspaceId]), ...sentTo].join('|'),
  )
const formatPlace = ({ table, column, rowId }: Place): string => `${table}.${column} of ${rowId}`

export function makeSealer(secretKey: Uint8Array): Sealer {
  if (secretKey.length !== KEY_BYTES) throw new RangeError('The secret key must be 32 bytes')
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secretKey, '', purpose, KEY_BYTES))
  const key = derive('sluice seal v1')
  const keyId = createHash('sha256').update(derive('sluice seal id v1')).digest('hex').slice(0, 8)

  return {
    keyId,
    seal(secret, place) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(placeOf(place))
      const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `v1.${keyId}.${nonce.toString('base64url')}.${sealed.toString('base64url')}`
    },
    open(sealed, place) {
      const parts = /^v1\.([0-9a-f]{8})\.([\w-]{16})\.([\w-]{22,})$/.exec(sealed)
      if (parts === null) throw new Error(`The sealed value in ${formatPlace(place)} cannot be read`)
      const [, madeWith, nonce = '', body = ''] = parts
      if (madeWith !== keyId) throw otherKey(place, madeWith ?? '', keyId)
      const bytes = Buffer.from(body, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), {
        authTagLength: TAG_BYTES,
      }).setAAD(placeOf(place))
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]).toString(
          'utf8',
        )
      } catch (cause) {
        throw changed(place, cause)
      }
    },
    ...makeBytesSealer(derive('sluice seal bytes v1'), keyId),
  }
}

/** The prefix of encrypted bytes, and their overhead over the plaintext. */
export const SEALED_VERSION = 1
const HEADER_BYTES = 1 + 4 + NONCE_BYTES
export const SEALED_OVERHEAD_BYTES = HEADER_BYTES + TAG_BYTES

/**
 * Rows of bodies come by the million: a key for each place keeps the number of random nonces under one key far below
 * the 2^32 that AES-GCM bears.
 */
function makeBytesSealer(key: Buffer, keyId: string): Pick<Sealer, 'sealBytes' | 'openBytes'> {
  const keyOf = (place: Buffer): Buffer => createHmac('sha256', key).update(place).digest()
  return {
    sealBytes(secret, place) {
      const aad = placeOf(place)
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', keyOf(aad), nonce).setAAD(aad)
      const header = Buffer.concat([Buffer.of(SEALED_VERSION), Buffer.from(keyId, 'hex'), nonce])
      return Buffer.concat([header, cipher.update(secret), cipher.final(), cipher.getAuthTag()])
    },
    openBytes(sealed, place) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
      if (bytes[0] !== SEALED_VERSION || bytes.length < SEALED_OVERHEAD_BYTES)
        throw new Error(`The sealed value in ${formatPlace(place)} cannot be read`)
      const madeWith = bytes.toString('hex', 1, 5)
      if (madeWith !== keyId) throw otherKey(place, madeWith, keyId)
      const aad = placeOf(place)
      const decipher = createDecipheriv('aes-256-gcm', keyOf(aad), bytes.subarray(5, HEADER_BYTES), {
        authTagLength: TAG_BYTES,
      }).setAAD(aad)
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(HEADER_BYTES, -TAG_BYTES)), decipher.final()])
      } catch (cause) {
        throw changed(place, cause)
      }
    },
  }
}

const otherKey = (place: Place, madeWith: string, keyId: string): Error =>
  new Error(
    `The sealed value in ${formatPlace(place)} was made with secret key ${madeWith}; this one is ${keyId}`,
  )

const changed = (place: Place, cause: unknown): Error =>
  new Error(`The sealed value in ${formatPlace(place)} was changed, or belongs elsewhere`, { cause })

/** Reads 32 bytes written as 64 hex digits or as base64. Throws a sentence that does not repeat the text. */
export function parseSecretKey(text: string, from: string): Uint8Array {
  const trimmed = text.trim()
  if (/^[0-9a-fA-F]{64}$/.test(trimmed)) return Buffer.from(trimmed, 'hex')
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return Buffer.from(trimmed, 'base64url')
  throw new Error(
    `${from} must be 32 bytes, as 64 hex digits or 44 characters of base64 (make one with: openssl rand -base64 32)`,
  )
}

/** The key in `<folder>/secret.key`, or undefined. */
export function readSecretKey(folder: string): Uint8Array | undefined {
  const path = join(folder, SECRET_FILE)
  return existsSync(path) ? parseSecretKey(readFileSync(path, 'utf8'), `The file ${path}`) : undefined
}

/**
 * Restricts a `secret.key` that other users of the machine can read. Returns a warning for the operator; null if it was
 * closed already, or is not there.
 */
export function closeSecretKey(folder: string): string | null {
  const path = join(folder, SECRET_FILE)
  if (process.platform === 'win32' || !existsSync(path)) return null
  const mode = statSync(path).mode & 0o777
  if ((mode & 0o077) === 0) return null
  const was = `${path} could be read by other users of this machine (mode 0${mode.toString(8)})`
  const advice =
    'If one of them may have read it, replace the credentials that are stored here: it opens all of them'
  try {
    chmodSync(path, 0o600)
    return `${was}; it is closed to them now (0600). ${advice}`
  } catch {
    return `${was} and could not be closed to them: run chmod 600 ${path}. ${advice}`
  }
}

/** The key in `<folder>/secret.key`, which is created if it is missing, readable by its owner only. */
export function readOrMakeSecretKey(folder: string): Uint8Array {
  const known = readSecretKey(folder)
  if (known !== undefined) return known
  const key = randomBytes(KEY_BYTES)
  const file = openSync(join(folder, SECRET_FILE), 'wx', 0o600)
  try {
    writeSync(file, `${key.toString('base64')}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return key
}

const CHECK_PLACE: Place = { table: 'meta', column: 'value', rowId: CHECK_NAME }

/** Names the key with which a database was sealed, without telling it; null: nothing was sealed yet. Only reads. */
export function sealedWith(database: Database): string | null {
  const check = database.file
    .query<{ value: string }, [string]>('SELECT value FROM meta WHERE name = ?')
    .get(CHECK_NAME)
  return check === null ? null : (/^v1\.([0-9a-f]{8})\./.exec(check.value)?.[1] ?? 'unknown')
}

/** Whether this is the key with which a database was sealed. Only reads. */
export function isSealedWith(database: Database, key: Uint8Array): boolean {
  const check = database.sync.select().from(meta).where(eq(meta.name, CHECK_NAME)).get()
  if (check === undefined) return true
  try {
    makeSealer(key).open(check.value, CHECK_PLACE)
    return true
  } catch {
    return false
  }
}

/**
 * The sealer of a data folder, from the setting's key or the folder's own file. Proves that it is the key with which
 * this database was sealed: throws a plain sentence when it is another, and makes no new one when it is missing.
 */
export function openSealer(database: Database, folder: string, setting?: Uint8Array): Sealer {
  const place = CHECK_PLACE
  const check = database.sync.select().from(meta).where(eq(meta.name, CHECK_NAME)).get()
  const key = setting ?? (check === undefined ? readOrMakeSecretKey(folder) : readSecretKey(folder))
  if (key === undefined) {
    throw new Error(
      `The secret key is missing: put the file ${join(folder, SECRET_FILE)} back, or set SLUICE_SECRET_KEY. ` +
        'Without it the stored credentials cannot be opened',
    )
  }
  const sealer = makeSealer(key)
  if (check === undefined) {
    database.sync
      .insert(meta)
      .values({ name: CHECK_NAME, value: sealer.seal('sluice', place) })
      .run()
    return sealer
  }
  try {
    sealer.open(check.value, place)
  } catch (cause) {
    throw new Error(
      `The secret key (${setting === undefined ? join(folder, SECRET_FILE) : 'SLUICE_SECRET_KEY'}) is not the one ` +
        `with which ${database.path} was sealed. Start with that key`,
      { cause },
    )
  }
  return sealer
}
