import { afterEach, expect, test } from 'bun:test'
import { createPool, type Pool, type PoolOptions, TaskTimeout } from '../../src/threads/pool.ts'

const pools: Pool<string, string>[] = []
let opened = 0
afterEach(() => {
  for (const pool of pools.splice(0)) pool.close()
  opened = 0
})

function poolOf(options: Partial<PoolOptions<string, string>> = {}): Pool<string, string> {
  const pool = createPool<string, string>({
    open() {
      opened += 1
      return new Worker(new URL('./echo.child.ts', import.meta.url).href)
    },
    read(answer) {
      if (typeof answer === 'string') return answer
      throw new Error('no text')
    },
    most: 1,
    mostWaiting: 3,
    longestMs: 20_000,
    idleMs: 60_000,
    ...options,
  })
  pools.push(pool)
  return pool
}

const never = new AbortController().signal

test('tasks run one after the other in a worker that stays', async () => {
  const pool = poolOf()
  expect(await Promise.all([pool.run('a', never), pool.run('b', never)])).toEqual(['A', 'B'])
  expect(await pool.run('c', never)).toBe('C')
  expect(opened).toBe(1)
})

test('a task without end is ended, and the next one runs', async () => {
  const pool = poolOf({ longestMs: 300 })
  const spinning = pool.run('spin', never)
  const after = pool.run('a', never)
  await expect(spinning).rejects.toThrow(TaskTimeout)
  expect(await after).toBe('A')
  expect(opened).toBe(2)
})

test('a task that makes the process grow too much is ended, the one that has run longest first', async () => {
  let bytes = 1_000
  const pool = poolOf({ most: 2, mostMemory: 500, memory: () => bytes })
  const leaving = new AbortController()
  const first = pool.run('spin', leaving.signal)
  const second = pool.run('spin', leaving.signal)
  const ended: string[] = []
  const both = Promise.allSettled([
    first.catch((error: Error) => ended.push(`first: ${error.name}`)),
    second.catch((error: Error) => ended.push(`second: ${error.name}`)),
  ])
  bytes = 1_501
  await first.catch(() => undefined)
  expect(ended).toEqual(['first: TaskMemory'])
  leaving.abort(new Error('gone'))
  await both
  expect(ended).toEqual(['first: TaskMemory', 'second: Error'])
  expect(await pool.run('a', never)).toBe('A')
})

test('a client disconnect ends its task at once', async () => {
  const pool = poolOf()
  const leaving = new AbortController()
  const spinning = pool.run('spin', leaving.signal)
  const waiting = pool.run('a', leaving.signal)
  const both = Promise.allSettled([spinning, waiting])
  leaving.abort(new Error('gone'))
  expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await pool.run('b', never)).toBe('B')
})

test('a failure in the worker, and an answer of another type, reject the task alone', async () => {
  const pool = poolOf()
  expect(await pool.run('throw', never).catch((error: Error) => error.message)).toContain('thrown on purpose')
  await expect(pool.run('bad', never)).rejects.toThrow('no text')
  expect(await pool.run('a', never)).toBe('A')
})

test('more than may wait is a 503', async () => {
  const pool = poolOf({ mostWaiting: 1, most: 1 })
  const leaving = new AbortController()
  const running = [pool.run('spin', leaving.signal), pool.run('a', leaving.signal)]
  await expect(pool.run('b', never)).rejects.toMatchObject({ status: 503 })
  leaving.abort(new Error('gone'))
  expect((await Promise.allSettled(running)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('a worker without tasks ends', async () => {
  const pool = poolOf({ idleMs: 1 })
  await pool.run('a', never)
  while (opened < 2) {
    await new Promise((resolve) => setTimeout(resolve, 2))
    await pool.run('b', never)
  }
})

test('a closed pool ends what runs and takes nothing', async () => {
  const pool = poolOf()
  const running = pool.run('spin', never)
  const waiting = pool.run('a', never)
  pool.close()
  await expect(running).rejects.toMatchObject({ status: 503 })
  await expect(waiting).rejects.toMatchObject({ status: 503 })
  await expect(pool.run('a', never)).rejects.toMatchObject({ status: 503 })
})
