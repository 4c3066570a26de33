import { afterEach, describe, expect, test } from 'bun:test'
import { probeJson } from '../../src/net/content.ts'
import { type Discovered, watchLocalServers } from '../../src/providers/discovery.ts'
import { defaults } from './defaults.ts'
import { at, OLLAMA, serve, stopAll, stopLater } from './local-servers.ts'

afterEach(stopAll)

describe('watching local servers', () => {
  test('reports only changes, until it is stopped', async () => {
    const tags: { name: string }[] = [{ name: 'a:1b' }]
    const port = serve({ '/api/version': { version: '1' }, '/api/tags': { models: tags } })
    const reported: Discovered[] = []
    let looks = 0
    let resolveNext: (() => void) | undefined
    const next = (): Promise<void> => new Promise((resolve) => (resolveNext = resolve))
    const watch = watchLocalServers({
      probe: async (url) => {
        const page = await probeJson(url)
        if (url.endsWith('/api/tags')) {
          looks += 1
          resolveNext?.()
        }
        return page
      },
      defaults,
      configured: () => [],
      servers: at({ ollama: port }),
      onChange: (found) => reported.push(found),
      intervalMs: 1,
    })
    stopLater(watch.stop)
    await watch.first
    expect(reported.map(({ models }) => models.map(({ endpoint }) => endpoint.upstreamId))).toEqual([
      ['a:1b'],
    ])
    for (let round = 0; round < 3; round += 1) await next()
    expect(reported).toHaveLength(1)
    tags.push({ name: 'b:2b' })
    for (let round = 0; round < 3; round += 1) await next()
    expect(reported.at(-1)?.models.map(({ endpoint }) => endpoint.upstreamId)).toEqual(['a:1b', 'b:2b'])
    tags.splice(0)
    for (let round = 0; round < 3; round += 1) await next()
    expect(reported.at(-1)).toEqual({ providers: [], models: [] })
    expect(reported).toHaveLength(3)
    await next()
    watch.stop()
    const before = looks
    // A probe that has started may finish; no other starts.
    await Bun.sleep(20)
    expect(looks).toBeLessThanOrEqual(before + 1)
  })

  test('a failing listener is reported, and the watch continues', async () => {
    const port = serve(OLLAMA)
    const errors: unknown[] = []
    const watch = watchLocalServers({
      probe: probeJson,
      defaults,
      configured: () => [],
      servers: at({ ollama: port }),
      onChange: () => {
        throw new Error('listener')
      },
      onError: (error) => errors.push(error),
    })
    stopLater(watch.stop)
    await watch.first
    expect(errors.map(String)).toEqual(['Error: listener'])
  })

  test('without a server nothing is reported', async () => {
    let reports = 0
    const watch = watchLocalServers({
      probe: async () => null,
      defaults,
      configured: () => [],
      onChange: () => {
        reports += 1
      },
    })
    await watch.first
    watch.stop()
    expect(reports).toBe(0)
  })
})
