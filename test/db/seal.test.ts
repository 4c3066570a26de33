import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrations.ts'
import {
  closeSecretKey,
  makeSealer,
  openSealer,
  parseSecretKey,
  readOrMakeSecretKey,
  readSecretKey,
} from '../../src/db/seal.ts'

let folder: string
let database: Database

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-seal-'))
  database = openDatabase(join(folder, 'sluice.db'))
  migrate(database)
})
afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

const key = (fill: number) => new Uint8Array(32).fill(fill)
const place = { table: 'provider_credentials', column: 'sealed_secret', rowId: 'row-1' }
const SECRET = 'sk-canary-ünïcode-🔑'

test('a sealed value opens again, and looks different each time', () => {
  const sealer = makeSealer(key(1))
  const [one, two] = [sealer.seal(SECRET, place), sealer.seal(SECRET, place)]
  expect(one).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]{16}\.[\w-]+$/)
  expect(one).not.toBe(two)
  expect(one).not.toContain('canary')
  expect([sealer.open(one, place), sealer.open(two, place)]).toEqual([SECRET, SECRET])
  expect(sealer.open(sealer.seal('', place), place)).toBe('')
})

const elsewhere = [
  { ...place, table: 'meta' },
  { ...place, column: 'label' },
  { ...place, rowId: 'row-2' },
]
test.each(elsewhere)('a value that was moved to %o is not opened', (other) => {
  const sealer = makeSealer(key(1))
  const sealed = sealer.seal(SECRET, place)
  expect(() => sealer.open(sealed, other)).toThrow('was changed, or belongs elsewhere')
})

test('no changed value is opened, whichever character was changed', () => {
  const sealer = makeSealer(key(1))
  const sealed = sealer.seal('secret', place)
  for (let at = 0; at < sealed.length; at++) {
    // The last character of a group carries bits that base64 does not use: flip those that it does.
    const changed = sealed[at] === 'A' ? 'w' : 'A'
    const forged = `${sealed.slice(0, at)}${changed}${sealed.slice(at + 1)}`
    expect(() => sealer.open(forged, place)).toThrow()
  }
  for (const text of ['', 'v1', 'v2.00000000.AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA', sealed.slice(0, -1)]) {
    expect(() => sealer.open(text, place)).toThrow()
  }
})

describe('bytes', () => {
  const row = { table: 'response_parts', column: 'reply.0', rowId: 'resp_1', workspaceId: 'a' }
  const secret = Buffer.from(SECRET)

  test('are opened again, and look different each time', () => {
    const sealer = makeSealer(key(1))
    const [one, two] = [sealer.sealBytes(secret, row), sealer.sealBytes(secret, row)]
    expect(Buffer.from(one).equals(two)).toBe(false)
    expect(Buffer.from(one).includes('canary')).toBe(false)
    for (const sealed of [one, two])
      expect(Buffer.from(sealer.openBytes(sealed, row)).equals(secret)).toBe(true)
    expect(sealer.openBytes(sealer.sealBytes(new Uint8Array(), row), row)).toHaveLength(0)
  })

  test.each([
    { ...row, column: 'input.0' },
    { ...row, rowId: 'resp_2' },
    { ...row, workspaceId: 'b' },
    { table: row.table, column: row.column, rowId: row.rowId },
  ])('that were moved to %o are not opened', (other) => {
    const sealer = makeSealer(key(1))
    const sealed = sealer.sealBytes(secret, row)
    expect(() => sealer.openBytes(sealed, other)).toThrow('was changed, or belongs elsewhere')
  })

  test('are not opened when any bit was changed, cut off, or sealed with another key', () => {
    const [one, two] = [makeSealer(key(1)), makeSealer(key(2))]
    const sealed = one.sealBytes(secret, row)
    for (let at = 0; at < sealed.length; at++) {
      const forged = Uint8Array.from(sealed)
      forged[at] = (forged[at] ?? 0) ^ 1
      expect(() => one.openBytes(forged, row)).toThrow()
    }
    for (const length of [0, 1, 16, 32, sealed.length - 1])
      expect(() => one.openBytes(sealed.subarray(0, length), row)).toThrow()
    expect(() => two.openBytes(sealed, row)).toThrow(`secret key ${one.keyId}; this one is ${two.keyId}`)
  })
})

test('another key is identified by its name, and no message repeats a secret', () => {
  const [one, two] = [makeSealer(key(1)), makeSealer(key(2))]
  const sealed = one.seal(SECRET, place)
  expect(() => two.open(sealed, place)).toThrow(
    `was made with secret key ${one.keyId}; this one is ${two.keyId}`,
  )
  expect(() => makeSealer(new Uint8Array(16))).toThrow('32 bytes')
})

test('the first start makes a key that only its owner may read, and keeps it', () => {
  const made = readOrMakeSecretKey(folder)
  const file = join(folder, 'secret.key')
  expect(made.length).toBe(32)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect([...readOrMakeSecretKey(folder)]).toEqual([...made])
  expect(closeSecretKey(folder)).toBeNull()
  chmodSync(file, 0o644)
  expect(closeSecretKey(folder)).toMatch(
    /secret\.key could be read by other users of this machine \(mode 0644\); it is closed/,
  )
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(closeSecretKey(join(folder, 'nowhere'))).toBeNull()
})

test('a key may be hex or base64, of 32 bytes exactly', () => {
  const bytes = key(0xfb)
  for (const text of [
    Buffer.from(bytes).toString('hex'),
    Buffer.from(bytes).toString('base64'),
    Buffer.from(bytes).toString('base64url'),
    ` ${Buffer.from(bytes).toString('base64')}\n`,
  ]) {
    expect([...parseSecretKey(text, 'SLUICE_SECRET_KEY')]).toEqual([...bytes])
  }
  for (const text of ['', 'password', 'ab'.repeat(31), 'ab'.repeat(33), `${'A'.repeat(43)}!`]) {
    expect(() => parseSecretKey(text, 'SLUICE_SECRET_KEY')).toThrow('SLUICE_SECRET_KEY must be 32 bytes')
  }
  expect(() => parseSecretKey('hunter2hunter2', 'X')).not.toThrow('hunter2')
})

test('a database opens with the key that sealed it, from the file or from the setting', () => {
  const { keyId } = openSealer(database, folder)
  expect(openSealer(database, folder).keyId).toBe(keyId)
  expect(openSealer(database, folder, readSecretKey(folder)).keyId).toBe(keyId)
})

test('a wrong key refuses to start', () => {
  openSealer(database, folder)
  expect(() => openSealer(database, folder, key(9))).toThrow(
    'The secret key (SLUICE_SECRET_KEY) is not the one',
  )
  writeFileSync(join(folder, 'secret.key'), Buffer.from(key(9)).toString('base64'))
  expect(() => openSealer(database, folder)).toThrow(
    `The secret key (${join(folder, 'secret.key')}) is not the one`,
  )
})

test('a missing key refuses to start, and no other is made in its place', () => {
  openSealer(database, folder)
  rmSync(join(folder, 'secret.key'))
  expect(() => openSealer(database, folder)).toThrow('The secret key is missing')
  expect(existsSync(join(folder, 'secret.key'))).toBe(false)
})

test('an unreadable key file is named, not repeated', () => {
  writeFileSync(join(folder, 'secret.key'), 'garbage-canary')
  expect(() => openSealer(database, folder)).toThrow(/secret\.key must be 32 bytes/)
  expect(readFileSync(join(folder, 'secret.key'), 'utf8')).toBe('garbage-canary')
})
