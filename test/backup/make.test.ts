import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeBackup } from '../../src/backup/make.ts'
import { readManifest } from '../../src/backup/manifest.ts'
import { restoreBackup } from '../../src/backup/restore.ts'
import { DATABASE_FILE, type Database, openDatabase, openForReading } from '../../src/db/database.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { verifyFolder } from '../../src/ledger/verify.ts'
import { openDataFolder } from '../../src/server/data-folder.ts'
import { inFolder } from '../cli/process.ts'
import { entryOf, NOON, rowsOf, settlementOf } from '../ledger/fixture.ts'

const options = { withSecretKey: false, now: () => NOON }

const isRoomy = (database: Database): unknown => rowsOf(database, 'PRAGMA auto_vacuum')[0]?.['auto_vacuum']

test('a file from before free space could be returned is restored as one that returns it', async () => {
  await inFolder(async (folder) => {
    const data = join(folder, 'data')
    openDataFolder(data).close()
    const old = openDatabase(join(data, DATABASE_FILE))
    for (const step of ['journal_mode = DELETE', 'auto_vacuum = NONE']) old.file.run(`PRAGMA ${step}`)
    old.file.run('VACUUM')
    expect(isRoomy(old)).toBe(0)
    old.close()
    await makeBackup(data, join(folder, 'backup'), options)
    await restoreBackup(join(folder, 'backup'), join(folder, 'again'), { secretKey: undefined })
    const again = openForReading(join(folder, 'again', DATABASE_FILE))
    expect(isRoomy(again)).toBe(2)
    again.close()
  })
})

test('rows settled after the copy are not in it, and the copy adds up', async () => {
  await inFolder(async (folder) => {
    const data = join(folder, 'data')
    const opened = openDataFolder(data)
    const { ledger } = openLedger(opened.database, { now: () => NOON })
    const spend = async (): Promise<void> => {
      const entry = entryOf()
      const hold = ledger.reserve({ ...entry, gates: [], amountNanoUsd: 0 })
      await ledger.settle(hold, settlementOf({ ...entry, costNanoUsd: 100 }))
    }
    for (let n = 0; n < 5; n++) await spend()
    // Not checkpointed: the newest rows are in the log of the file that is served.
    const manifest = await makeBackup(data, join(folder, 'backup'), options)
    await spend()
    expect(verifyFolder(join(folder, 'backup'))).toMatchObject({ generations: 5, differences: [] })
    expect(verifyFolder(data)).toMatchObject({ generations: 6, differences: [] })
    expect(readManifest(join(folder, 'backup'))).toEqual(manifest)
    expect(manifest).toMatchObject({ madeAt: '2026-11-18T12:34:56.789Z', secretKeyId: null, lacking: [] })
    expect(readdirSync(folder).sort()).toEqual(['backup', 'data'])
    await ledger.close()
    opened.close()
  })
})

test('a copy that fails leaves nothing, and the next one is made', async () => {
  await inFolder(async (folder) => {
    const data = join(folder, 'data')
    const opened = openDataFolder(data)
    opened.bodies.file.run('DROP TABLE schema_migrations')
    await expect(makeBackup(data, join(folder, 'backup'), options)).rejects.toThrow(
      'bodies.db of the data folder is not a Sluice database',
    )
    expect(readdirSync(folder)).toEqual(['data'])
    opened.close()
  })
})
