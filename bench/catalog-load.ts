import { heapStats } from 'bun:jsc'
import { statSync } from 'node:fs'
import { createDirectory } from '../src/catalog/directory.ts'
import seedPath from '../src/catalog/seed/catalog.json.gz' with { type: 'file' }
import { loadCatalog } from '../src/catalog/store.ts'
import { vendors } from '../src/providers/compatible.ts'

/**
 * What the built-in catalogue costs a process that has just started: one line of JSON. Run in a process of its own by
 * `benchCatalog`, so that the first load is the one that is measured.
 */
const settled = (): { heap: number; resident: number } => {
  Bun.gc(true)
  return { heap: heapStats().heapSize, resident: process.memoryUsage.rss() }
}

// What the program has anyway is there before: here only the catalogue counts.
createDirectory(
  {
    models: [],
    isRetired: () => false,
    named: () => undefined,
    withId: () => undefined,
    endpointsOf: () => [],
    providersOf: () => [],
  },
  [],
  [],
)
const before = settled()
const startedAt = performance.now()
const catalog = loadCatalog()
const loadedAt = performance.now()
// Names and endpoints are made when they are first asked for.
catalog.named('openai/gpt-4o')
const endpoints = vendors.reduce(
  (count, { slug }) =>
    count + catalog.endpointsOf(slug, ['chat', 'responses', 'messages', 'gemini', 'cohere']).length,
  0,
)
const usedAt = performance.now()
const after = settled()
process.stdout.write(
  `${JSON.stringify({
    models: catalog.models.length,
    endpoints,
    packedBytes: statSync(seedPath).size,
    loadMs: loadedAt - startedAt,
    readyMs: usedAt - startedAt,
    heapBytes: after.heap - before.heap,
    residentBytes: after.resident - before.resident,
  })}\n`,
)
