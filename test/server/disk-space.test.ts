import { expect, test } from 'bun:test'
import { type Space, watchDiskSpace } from '../../src/server/disk-space.ts'

const MB = 1_000_000

/** What is free of how much, and whether requests are taken then. */
const courses: { what: string; totalBytes: number; steps: [freeBytes: number, hasDiskSpace: boolean][] }[] = [
  {
    what: 'a large disk keeps 16 MB',
    totalBytes: 500_000 * MB,
    steps: [
      [400_000 * MB, true],
      [16 * MB, true],
      [16 * MB - 1, false],
      [16 * MB, false],
      [20 * MB - 1, false],
      [20 * MB, true],
      [17 * MB, true],
      [0, false],
      [1_000 * MB, true],
    ],
  },
  {
    what: 'a small one a twentieth',
    totalBytes: 2 * MB,
    steps: [
      [MB, true],
      [0.1 * MB, true],
      [0.1 * MB - 1, false],
      [0.12 * MB, false],
      [0.125 * MB, true],
    ],
  },
  { what: 'one that does not say', totalBytes: 0, steps: [[0, true]] },
]

test.each(courses)('$what', async ({ totalBytes, steps }) => {
  let freeBytes = 0
  const reported: boolean[] = []
  const room = watchDiskSpace('/data', {
    space: async (folder): Promise<Space> => {
      expect(folder).toBe('/data')
      return { freeBytes, totalBytes }
    },
    onChange: (hasDiskSpace) => reported.push(hasDiskSpace),
  })
  for (const [free, hasDiskSpace] of steps) {
    freeBytes = free
    await room.look()
    expect([free, room.hasDiskSpace()]).toEqual([free, hasDiskSpace])
  }
  room.stop()
  // Each change once.
  const states = steps.map(([, hasDiskSpace]) => hasDiskSpace)
  expect(reported).toEqual(states.filter((state, n) => state !== (states[n - 1] ?? true)))
})

test('a disk whose free space cannot be read counts as large enough; a real one is read', async () => {
  const onChange = (): void => {
    throw new Error('nothing changed')
  }
  const broken = watchDiskSpace('/nowhere/at/all', { onChange })
  await broken.look()
  expect(broken.hasDiskSpace()).toBe(true)
  broken.stop()
})
