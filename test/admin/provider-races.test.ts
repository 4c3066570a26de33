/** Two requests at the same time: a secret is sent only to the address that it was stored for. */
import { describe, expect, test } from 'bun:test'
import { CREDENTIALS, ENTRIES, startProviders } from './provider-entries.ts'

const { manage, listed, lab, make } = startProviders()

/** Both requests begin before either of them has written. */
async function atOnce(...requests: readonly (readonly [method: string, path: string, body: object])[]) {
  const replies = await Promise.all(requests.map(([method, path, body]) => manage(method, path, body)))
  return replies.map(({ status }) => status)
}
const credential = (provider: string) => ({ provider, credential: 'canary-of-the-race' })
const elsewhere = { base_url: 'http://127.0.0.1:9/v1', api_key: 'canary-of-elsewhere' }

describe('of two requests at once, only one is done:', () => {
  test('an entry moves to another address, and a credential is stored for it', async () => {
    for (const isMoveFirst of [true, false]) {
      const slug = isMoveFirst ? 'first' : 'second'
      await make(ENTRIES, lab({ slug }))
      const requests = [
        ['PATCH', `${ENTRIES}/${slug}`, elsewhere],
        ['POST', CREDENTIALS, credential(slug)],
      ] as const
      const statuses = await atOnce(...(isMoveFirst ? requests : requests.toReversed()))
      expect(statuses.filter((status) => status === 409)).toHaveLength(1)
      const [entry] = (await listed(ENTRIES)).filter((one) => one['slug'] === slug)
      const held = await listed(`${CREDENTIALS}?provider=${slug}`)
      const hasMoved = JSON.stringify(entry).includes(elsewhere.base_url)
      expect(held).toHaveLength(hasMoved ? 0 : 1)
    }
  })

  test('an entry gets the slug of a vendor, and a credential is stored for the vendor', async () => {
    for (const isEntryFirst of [true, false]) {
      const slug = isEntryFirst ? 'openai' : 'groq'
      const requests = [
        ['POST', ENTRIES, lab({ slug })],
        ['POST', CREDENTIALS, credential(slug)],
      ] as const
      const statuses = await atOnce(...(isEntryFirst ? requests : requests.toReversed()))
      expect(statuses.toSorted()).toEqual([201, 409])
    }
  })

  test('an entry is changed twice', async () => {
    await make(ENTRIES, lab())
    const statuses = await atOnce(
      ['PATCH', `${ENTRIES}/lab`, { name: 'One' }],
      ['PATCH', `${ENTRIES}/lab`, elsewhere],
    )
    expect(statuses.toSorted()).toEqual([200, 409])
  })

  test('an entry is changed and deleted', async () => {
    await make(ENTRIES, lab())
    const statuses = await atOnce(
      ['DELETE', `${ENTRIES}/lab`, {}],
      ['PATCH', `${ENTRIES}/lab`, { name: 'One' }],
    )
    expect([
      [200, 409],
      [404, 200],
      [200, 404],
    ]).toContainEqual(statuses)
    expect(await listed(ENTRIES)).toEqual([])
  })
})
