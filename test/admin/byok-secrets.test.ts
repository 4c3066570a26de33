import { beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { byokKeys } from '../../src/db/tables.ts'
import { createSnapshotSource } from '../../src/snapshot/source.ts'
import { administration } from './administration.ts'
import { SECRET, storeByok } from './byok.ts'
import { makeWorkspace } from './workspaces.ts'

const admin = administration()
let otherId = ''
beforeAll(async () => {
  otherId = await makeWorkspace(admin, 'other')
})

const defaultWorkspaceId = (): string => admin.gateway.deps.snapshot.current().defaultWorkspaceId

describe('secrets', () => {
  test('are in no file in clear, sealed to their row, and opened only for the workspace', async () => {
    const id = await storeByok(admin, { name: 'sealed' })
    const files = readdirSync(admin.gateway.folder, { withFileTypes: true }).filter((entry) => entry.isFile())
    expect(files.map(({ name }) => name)).toContain('sluice.db-wal')
    for (const { name } of files) {
      const bytes = readFileSync(join(admin.gateway.folder, name)).toString('latin1')
      expect([name, bytes.includes('Canary'), bytes.includes('Zebra')]).toEqual([name, false, false])
    }
    const { byokKeys } = admin.gateway.deps.snapshot.current()
    const opened = byokKeys?.get(defaultWorkspaceId())?.find((own) => own.id === id)
    expect(opened?.credential?.secret).toBe(SECRET)
    expect(byokKeys?.get(otherId)?.some((own) => own.id === id) ?? false).toBe(false)
  })

  test('a key whose provider was changed in the file does not open', async () => {
    const id = await storeByok(admin)
    const credentialOf = () => {
      admin.gateway.deps.snapshot.applyChanges()
      return admin.gateway.deps.snapshot
        .current()
        .byokKeys?.get(defaultWorkspaceId())
        ?.find((own) => own.id === id)?.credential
    }
    const { provider } =
      (await admin.gateway.database.db.select().from(byokKeys)).find((row) => row.id === id) ?? {}
    const give = (to: string) =>
      admin.gateway.database.file.run('UPDATE byok_keys SET provider = ? WHERE id = ?', [to, id])
    give('groq')
    expect(credentialOf()).toBeNull()
    give(provider ?? '')
    expect(credentialOf()?.secret).toBe(SECRET)
  })

  test('an unreadable key is reported once, does not affect other keys, and still limits its models to BYOK', async () => {
    const [moved, good] = [await storeByok(admin, { is_byok_only: true }), await storeByok(admin)]
    const rows = await admin.gateway.database.db.select().from(byokKeys)
    const sealed = rows.find(({ id }) => id === good)?.sealed_key ?? ''
    admin.gateway.database.file.run('UPDATE byok_keys SET sealed_key = ? WHERE id = ?', [sealed, moved])
    const reported: string[] = []
    const source = createSnapshotSource(
      admin.gateway.database,
      { providers: [], models: emptyDirectory },
      {
        sealer: admin.gateway.deps.sealer,
        onUnreadable: (left) => reported.push(JSON.stringify(left)),
      },
    )
    source.applyChanges()
    source.applyChanges()
    expect(reported).toEqual([expect.stringContaining(moved)])
    expect(reported[0]).not.toContain('Canary')
    const own = source.current().byokKeys?.get(defaultWorkspaceId()) ?? []
    expect(own.find(({ id }) => id === moved)).toMatchObject({ credential: null, isByokOnly: true })
    expect(own.find(({ id }) => id === good)?.credential?.secret).toBe(SECRET)
  })
})

const emptyDirectory = {
  find: () => undefined,
  isKnown: () => false,
  nearest: () => [],
  list: () => [],
}
