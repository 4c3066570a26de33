import { describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const FACTS = process.env['SLUICE_CATALOG_FACTS'] ?? join(import.meta.dir, '../../../shared/catalog')
const hasFacts = existsSync(join(FACTS, 'models.dev.json'))
if (!hasFacts) console.warn(`skipped: no facts in ${FACTS} (SLUICE_CATALOG_FACTS names another folder)`)

describe.if(hasFacts)('the committed catalogue', () => {
  test('is the same whenever the facts are read', async () => {
    const root = join(import.meta.dir, '../..')
    const folder = mkdtempSync(join(tmpdir(), 'sluice-seed-'))
    try {
      const run = Bun.spawn([process.execPath, 'scripts/catalog/build-seed.ts', FACTS, folder], {
        cwd: root,
        stderr: 'pipe',
      })
      expect(await run.exited).toBe(0)
      const unpack = async (path: string): Promise<string> =>
        new TextDecoder().decode(Bun.gunzipSync(await Bun.file(path).bytes()))
      for (const name of ['catalog.json.gz', 'listed.json.gz']) {
        const isSame =
          (await unpack(join(folder, name))) === (await unpack(join(root, 'src/catalog/seed', name)))
        expect({ name, isSame }).toEqual({ name, isSame: true })
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
