import { expect, test } from 'bun:test'
import { createNames } from '../../src/net/names.ts'

test('a lookup is shared for 30 seconds, failed ones too', async () => {
  let time = 0
  const asked: string[] = []
  const names = createNames({
    now: () => time,
    resolve: async (host) => {
      asked.push(host)
      if (host === 'gone.example.com') throw new Error('ENOTFOUND')
      return ['192.0.2.1']
    },
  })
  const both = () => Promise.all(['a.example.com', 'gone.example.com'].map((host) => names.addressesOf(host)))
  expect(await both()).toEqual([['192.0.2.1'], []])
  time = 29_999
  await both()
  expect(asked).toHaveLength(2)
  time = 30_000
  await both()
  expect(asked).toHaveLength(4)
})

test('a resolver that is silent is waited for two seconds, and 256 lookups are the most at once', async () => {
  const release = Promise.withResolvers<readonly string[]>()
  const names = createNames({ resolve: () => release.promise })
  const begun = performance.now()
  const waiting = Array.from({ length: 256 }, (_, index) => names.addressesOf(`h${index}.example.com`))
  expect(names.addressesOf('one-more.example.com')).toBeNull()
  expect(names.addressesOf('h0.example.com')).not.toBeNull()
  for (const addresses of await Promise.all(waiting)) expect(addresses).toEqual([])
  expect(performance.now() - begun).toBeGreaterThan(1_900)
  // The resolver still has them.
  expect(names.addressesOf('one-more.example.com')).toBeNull()
  release.resolve(['192.0.2.1'])
  await Bun.sleep(0)
  expect(await names.addressesOf('one-more.example.com')).toEqual(['192.0.2.1'])
})
