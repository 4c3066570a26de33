import { afterAll, expect, test } from 'bun:test'
import type { Book } from '../../src/delivery/book.ts'
import type { Destination } from '../../src/delivery/destination.ts'
import { OWN_TELEMETRY } from '../../src/delivery/destination.ts'
import type { StoredDestination } from '../../src/delivery/stored.ts'
import { sync } from '../../src/delivery/sync.ts'
import { makeFolder, openMigrated } from '../ledger/fixture.ts'

const folder = makeFolder()
const database = openMigrated(folder.databasePath)
afterAll(() => {
  database.close()
  folder.remove()
})

const destinationOf = (id: string, workspaceId: string | null): Destination => ({
  id,
  workspaceId,
  name: id,
  type: 'webhook',
  config: { fields: { url: 'https://hook.example' }, headers: null },
  enabled: true,
  privacyMode: true,
  samplingRate: 1,
  apiKeyHashes: null,
  filterRules: null,
  regions: [],
  cost: true,
  identity: true,
  requestContext: true,
})

test('a change reads the destinations of its workspaces, and leaves the others as they are', () => {
  const stored = new Map<string, Destination>()
  const reads: (readonly string[] | 'all')[] = []
  let version = 0
  const books = new Map<string, Book>()
  const options = {
    database,
    onEvent: () => undefined,
    destinations(workspaceIds?: ReadonlySet<string>): StoredDestination[] {
      reads.push(workspaceIds === undefined ? 'all' : [...workspaceIds])
      return [...stored.values()]
        .filter((one) => workspaceIds === undefined || workspaceIds.has(one.workspaceId ?? ''))
        .map((one) => ({ id: one.id, version: String(version), open: () => one }))
    },
  }
  const put = (id: string, workspaceId: string | null) => stored.set(id, destinationOf(id, workspaceId))
  put(OWN_TELEMETRY, null)
  put('a1', 'a')
  put('b1', 'b')
  expect(sync(options, books)).toEqual([OWN_TELEMETRY, 'a1', 'b1'])
  version += 1
  stored.delete('a1')
  stored.delete('b1')
  put('a2', 'a')
  expect(sync(options, books, new Set(['a']))).toEqual(['a2'])
  expect([...books.keys()]).toEqual([OWN_TELEMETRY, 'b1', 'a2'])
  expect(sync(options, books, new Set(['b']))).toEqual([])
  expect([...books.keys()]).toEqual([OWN_TELEMETRY, 'a2'])
  expect(sync(options, books, new Set(['c']))).toBeNull()
  expect(reads).toEqual(['all', ['a'], ['b'], ['c']])
})
