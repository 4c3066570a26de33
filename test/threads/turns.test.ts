import { expect, test } from 'bun:test'
import { createTurns } from '../../src/threads/turns.ts'

const one = (group: string, name: string) => ({ group, name })
const named = (task: { name: string } | undefined) => task?.name

test('groups take turns, each in the order of its tasks', () => {
  const turns = createTurns<ReturnType<typeof one>>({ mostWaiting: 10 })
  for (const name of ['a1', 'a2', 'a3']) turns.add(one('a', name))
  for (const name of ['b1', 'b2']) turns.add(one('b', name))
  turns.add(one('c', 'c1'))
  expect(Array.from({ length: 7 }, () => named(turns.next()))).toEqual([
    'a1',
    'b1',
    'c1',
    'a2',
    'b2',
    'a3',
    undefined,
  ])
})

test('a group that runs as many tasks as it may waits for one of them to end', () => {
  const turns = createTurns<ReturnType<typeof one>>({ mostWaiting: 10, mostOfGroup: 1 })
  for (const name of ['a1', 'a2']) turns.add(one('a', name))
  turns.add(one('b', 'b1'))
  const first = turns.next()
  expect([named(first), named(turns.next()), named(turns.next())]).toEqual(['a1', 'b1', undefined])
  if (first !== undefined) turns.ended(first)
  expect(named(turns.next())).toBe('a2')
})

test('as many may wait of one group, and of all groups, as the bounds say', () => {
  const turns = createTurns<ReturnType<typeof one>>({ mostWaiting: 3, mostWaitingOfGroup: 2 })
  const added = ['a1', 'a2', 'a3', 'b1', 'b2'].map((name) => turns.add(one(name.slice(0, 1), name)))
  expect(added).toEqual([true, true, false, true, false])
})

test('a task that is removed leaves its place to another', () => {
  const turns = createTurns<ReturnType<typeof one>>({ mostWaiting: 1 })
  const task = one('a', 'a1')
  turns.add(task)
  turns.remove(task)
  turns.remove(task)
  expect(turns.add(one('b', 'b1'))).toBe(true)
  expect(turns.clear().map(named)).toEqual(['b1'])
  expect(turns.next()).toBeUndefined()
})
