/**
 * Writes the catalogue that is built into the program: `bun scripts/catalog/build-seed.ts <facts folder> [output folder]`.
 * The folder has `models.dev.json` (the shape of models.dev's api.json) and `openrouter-models.facts.json` (the shape of
 * OpenRouter's model list); later-models.jsonl beside this script has newer models and prices (gather-later.ts).
 * SOURCES.md names the commit, version, date and digest of each. The same files give the same bytes.
 */
import { join } from 'node:path'
import { composeSeed } from '../../src/catalog/facts/compose.ts'
import { readDocument } from '../../src/catalog/facts/document.ts'
import { packListed, readListed } from '../../src/catalog/facts/listed.ts'
import { packed } from '../../src/catalog/packed.ts'
import { factsOf, vendors } from '../../src/providers/compatible.ts'
import { joined, readLines } from './later.ts'

async function build(folder: string, output: string): Promise<void> {
  const later = readLines(await Bun.file(join(import.meta.dir, 'later-models.jsonl')).text())
  const facts = readDocument(joined(await Bun.file(join(folder, 'models.dev.json')).json(), later))
  const listed = readListed(await Bun.file(join(folder, 'openrouter-models.facts.json')).json())
  for (const vendor of vendors) if (!facts.has(factsOf(vendor))) console.warn(`no facts for ${vendor.slug}`)
  const seed = composeSeed(facts, listed)
  const bytes = packed(seed)
  await Bun.write(join(output, 'catalog.json.gz'), bytes)
  await Bun.write(join(output, 'listed.json.gz'), packListed(listed))
  console.log(
    `${seed.models.length} models, ${Object.values(seed.endpoints).flat().length} endpoints of ` +
      `${Object.keys(seed.endpoints).length} providers, facts of ${seed.facts_at}; ${bytes.byteLength} bytes packed`,
  )
}

const [, , folder, output = join(import.meta.dir, '../../src/catalog/seed')] = process.argv
if (folder === undefined)
  throw new Error('usage: bun scripts/catalog/build-seed.ts <facts folder> [output folder]')
await build(folder, output)
