import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { REFERENCE, referencePages } from '../../scripts/docs/reference.ts'

const pages = await referencePages()

for (const [file, generated] of Object.entries(pages)) {
  test(`docs/reference/${file} is what \`bun run docs\` writes`, async () => {
    expect(await Bun.file(join(REFERENCE, file)).text()).toBe(generated)
  })
}
