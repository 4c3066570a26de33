import { afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { warningText } from '../../src/catalog/outliers.ts'
import { builtInStore } from '../../src/catalog/store.ts'
import { unusualPrices } from '../../src/catalog/unusual-prices.ts'
import { type Config, loadConfig } from '../../src/config.ts'
import { createRoutingSource, NOTHING_DISCOVERED } from '../../src/server/routing.ts'
import { BOOTSTRAP, inFolder, killServers, startServer } from '../cli/process.ts'

afterEach(killServers)

const config = async (more: Partial<Config>): Promise<Config> => ({
  ...(await loadConfig({ environment: {}, workingFolder: '/nowhere' })),
  ...more,
})
const entry = (pricing: Record<string, string>) => ({
  slug: 'lab',
  base_url: 'http://127.0.0.1:9/v1',
  models: [{ id: 'tiny', pricing }],
})
const warned = async (more: Partial<Config>): Promise<string[]> => {
  const store = builtInStore()
  const settings = await config(more)
  const source = createRoutingSource(settings, () => ({ providers: [], models: [] }), undefined, store)
  return unusualPrices(source.withDiscovered(NOTHING_DISCOVERED), source.ownPrices, store).map(warningText)
}

test('a price per million instead of per token is pointed out', async () => {
  const [prompt, completion] = await warned({ providers: [entry({ prompt: '0.15', completion: '0.6' })] })
  expect(prompt).toMatch(
    /^tiny at lab: prompt 0\.15 USD a token is \d+ times the median of its kind, 0\.0000/,
  )
  expect(completion).toStartWith('tiny at lab: completion 0.6 USD a token is ')
})

test('usual and free prices are not', async () => {
  expect(await warned({ providers: [entry({ prompt: '0.00000015', completion: '0.0000006' })] })).toEqual([])
  expect(await warned({ providers: [entry({ prompt: '0', completion: '0' })] })).toEqual([])
  expect(await warned({ environment: { OPENAI_API_KEY: 'k', OPENROUTER_API_KEY: 'k' } })).toEqual([])
})

test('nor is the price of the catalogue, but a price in the settings is', async () => {
  const warnings = await warned({
    environment: { OPENAI_API_KEY: 'k' },
    models: [{ id: 'openai/gpt-4o', pricing: { prompt: '2.5' } }],
  })
  expect(warnings.length).toBe(2)
  expect(warnings[0]).toStartWith(
    'openai/gpt-4o at openai: prompt 2.5 USD a token is 1000000 times the median of other',
  )
})

test('the log says so once, at the start', () =>
  inFolder(async (folder) => {
    await Bun.write(
      join(folder, 'sluice.yaml'),
      JSON.stringify({ providers: [entry({ prompt: '0.15', completion: '0.6' })] }),
    )
    const log = join(folder, 'log')
    const server = await startServer(join(folder, 'data'), { cwd: folder, env: BOOTSTRAP, log })
    // The warning is logged once the server listens.
    for (let tries = 0; tries < 200 && !(await Bun.file(log).text()).includes('ten times off'); tries++)
      await Bun.sleep(20)
    expect(await server.stop()).toBe(0)
    const lines = (await Bun.file(log).text()).split('\n').filter((line) => line.includes('ten times off'))
    expect(lines.length).toBe(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      count: 2,
      prices: [/tiny at lab: prompt 0\.15/, /./].map((words) => expect.stringMatching(words)),
    })
  }))
