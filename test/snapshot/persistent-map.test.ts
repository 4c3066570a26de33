import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { persistentMap } from '../../src/snapshot/persistent-map.ts'

test('it holds what a Map holds after the same changes, and its former states stay', () => {
  const key = fc.oneof(fc.constantFrom('a', 'b', ''), fc.uuid(), fc.string({ maxLength: 12 }))
  const change = fc.tuple(key, fc.option(fc.nat(9), { nil: undefined }))
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 8 }), { maxLength: 8 }), (rounds) => {
      let map = persistentMap<number>([])
      const model = new Map<string, number>()
      const former: [typeof map, [string, number][]][] = []
      for (const changes of rounds) {
        former.push([map, [...model].sort()])
        map = map.with(new Map(changes))
        for (const [id, value] of new Map(changes)) {
          if (value === undefined) model.delete(id)
          else model.set(id, value)
        }
        expect([map.size, [...map.entries()].sort()]).toEqual([model.size, [...model].sort()])
        for (const id of [...model.keys(), 'none'])
          expect([map.get(id), map.has(id)]).toEqual([model.get(id), model.has(id)])
      }
      for (const [before, was] of former) expect([...before.entries()].sort()).toEqual(was)
    }),
    { numRuns: 200, seed: 3 },
  )
})
