import { describe, expect, test } from 'bun:test'
import { CREDENTIALS, ENTRIES, SECRET, startProviders } from './provider-entries.ts'

const { manage, seen, list, address, lab, make } = startProviders()

describe('a test of the connection', () => {
  const tried = async (): Promise<unknown> => {
    const reply = await manage('POST', '/providers/configured/lab/test')
    expect([reply.status, reply.text]).toEqual([200, expect.any(String)])
    return reply.json
  }

  test('requests the list of models with every credential', async () => {
    await make(ENTRIES, lab({ name: 'Lab', api_key: SECRET }))
    const { id } = await make(CREDENTIALS, { provider: 'lab', credential: 'canary-second' })
    const message = 'Lab answered with a list of 2 models'
    expect(await tried()).toEqual({
      success: true,
      data: [
        { credential: 'lab', success: true, status: 200, message },
        { credential: id, success: true, status: 200, message },
      ],
    })
    expect(seen.map(({ method, path, key }) => `${method} ${path} ${key}`).toSorted()).toEqual([
      `GET /v1/models Bearer ${SECRET}`,
      'GET /v1/models Bearer canary-second',
    ])
  })

  test.each([
    [401, '{}', false, 'refuses the credential (401)'],
    [404, '{}', false, 'version segment'],
    [500, 'canary', false, 'answered 500'],
    [200, '<html>canary', true, 'not with a list of models'],
    [200, '[{},{},{}]', true, '3 models'],
  ])('reports a status of %i with %j', async (status, body, success, words) => {
    list.status = status
    list.body = body
    await make(ENTRIES, lab({ dialect: 'messages', api_key: SECRET }))
    const result = await tried()
    expect(result).toMatchObject({
      success,
      data: [{ success, status, message: expect.stringContaining(words) }],
    })
    expect(JSON.stringify(result)).not.toContain('canary')
    expect(seen[0]?.key).toBe(SECRET)
  })

  test('reports an unreachable host, and a provider that cannot be tested', async () => {
    await make(ENTRIES, lab({ base_url: 'http://127.0.0.1:1/v1' }))
    expect(await tried()).toMatchObject({
      success: false,
      data: [{ success: false, status: null, message: 'lab could not be reached' }],
    })
    await manage('DELETE', `${ENTRIES}/lab`)
    await make(ENTRIES, { slug: 'lab', dialect: 'converse', base_url: address(), api_key: SECRET })
    expect(await tried()).toMatchObject({
      success: false,
      data: [{ success: null, message: expect.stringContaining('without cost') }],
    })
  })
})
