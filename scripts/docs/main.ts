/** `bun run docs` writes docs/reference from the declarations of the code. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { REFERENCE, referencePages } from './reference.ts'

mkdirSync(REFERENCE, { recursive: true })
for (const [file, text] of Object.entries(await referencePages())) {
  writeFileSync(join(REFERENCE, file), text)
  console.log(`docs/reference/${file}: ${text.split('\n').length - 1} lines`)
}
