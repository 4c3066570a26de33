/** What the command line says of `bodies.db`. */
import { afterEach, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openBodies } from '../../src/db/database.ts'
import { openDataFolder } from '../../src/server/data-folder.ts'
import { inFolder, killServers, sluice } from './process.ts'

afterEach(killServers)

const states: {
  what: string
  make(path: string): void
  verify: [number, string]
  doctor: string
  serves: boolean
}[] = [
  {
    what: 'whole',
    make: () => undefined,
    verify: [0, 'bodies.db: ok: 0 stored responses'],
    doctor: 'ok       stored responses: intact',
    serves: true,
  },
  {
    what: 'no database',
    make: (path) => writeFileSync(path, 'no database at all '.repeat(400)),
    verify: [1, 'is damaged or is not an SQLite database'],
    doctor: 'problem  stored responses: The database',
    serves: false,
  },
  {
    what: 'newer',
    make(path) {
      const bodies = openBodies(path)
      bodies.file.run("INSERT INTO schema_migrations VALUES ('9999_later', 0)")
      bodies.close()
    },
    verify: [1, 'has the schema 9999_later'],
    doctor: 'was written by a newer Sluice (schema 9999_later)',
    serves: false,
  },
]

test.each(states)('bodies.db that is $what', async ({ make, verify, doctor, serves }) => {
  await inFolder(async (folder) => {
    const data = join(folder, 'data')
    openDataFolder(data).close()
    make(join(data, 'bodies.db'))
    const [verified, examined] = await Promise.all([
      sluice(['verify', data]),
      sluice(['doctor', '--data', data], { cwd: folder }),
    ])
    expect([verified.exitCode, verified.stdout]).toEqual([verify[0], expect.stringContaining(verify[1])])
    expect(examined.stdout).toContain(doctor)
    if (serves) return
    const served = await sluice(['serve', '--port', '0', '--data', data], { cwd: folder })
    expect(served.exitCode).toBe(1)
    expect(served.stderr).toContain('bodies.db')
  })
})
