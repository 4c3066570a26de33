import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { usedBytes } from '../../../src/db/space.ts'
import { startGateway } from '../../gateway.ts'
import { unary } from '../../upstream.ts'
import { chat, ON, PIXEL, startForLoggedContents } from './setup.ts'

/** The file of logged contents: its bound, long contents, a full disk, and sealing. */

const { gateway, lines, answers, loggedOf } = await startForLoggedContents()

test('the file stays within its bound while it is written: the oldest contents are removed', async () => {
  const bounded = await startGateway({ environment: { SLUICE_BODIES_MAX_MB: '1' } })
  await bounded.manage('PATCH', '/workspaces/default', ON)
  const ids: string[] = []
  for (let n = 0; n < 6; n++) {
    const content = Buffer.from(crypto.getRandomValues(new Uint8Array(290_000))).toString('base64')
    const body = { model: 'sluice/demo', messages: [{ role: 'user', content }] }
    const response = await bounded.call('/chat/completions', body)
    ids.push(response.headers.get('x-generation-id') ?? '')
    await bounded.deps.contents.close()
    expect(usedBytes(bounded.bodies)).toBeLessThanOrEqual(1_000_000)
  }
  const statuses = await Promise.all(
    ids.map(async (id) => (await bounded.call(`/generation/content?id=${id}`)).status),
  )
  expect(statuses).toEqual([404, 404, 404, 200, 200, 200])
  await bounded.stop()
})

test('the longest text of a long question is truncated, with a note', async () => {
  const image = {
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${PIXEL.slice(0, 40)}${'A'.repeat(6_000_000)}` },
  }
  const content = [{ type: 'text', text: 'What is this?' }, image]
  const { input } = await loggedOf(
    '/chat/completions',
    chat('tiny', { messages: [{ role: 'user', content }] }),
  )
  const stored = JSON.stringify(input)
  expect(stored.length).toBeLessThan(5_100_000)
  expect(stored.length).toBeGreaterThan(4_900_000)
  expect(stored).toContain('What is this?')
  expect(stored).toMatch(/… \[truncated in the log: 1\d{6} more characters\]/)
})

test('a full disk loses logged contents, with a warning, and no answer', async () => {
  await gateway.deps.contents.close()
  const { file } = gateway.bodies
  const pages = file.query<{ page_count: number }, []>('PRAGMA page_count').get()?.page_count ?? 0
  file.run(`PRAGMA max_page_count = ${pages}`)
  lines.length = 0
  const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(3_000_000))).toString('base64')
  const response = await gateway.call(
    '/chat/completions',
    chat('tiny', { messages: [{ role: 'user', content: noise }] }),
  )
  expect(response.status).toBe(200)
  await gateway.deps.contents.close()
  file.run('PRAGMA max_page_count = 4294967294')
  const warning = lines.find((line) => line.includes('could not be logged')) ?? ''
  expect(JSON.parse(warning)).toMatchObject({ level: 40, contents: 1 })
  expect(lines.join('').length).toBeLessThan(10_000)
  const id = response.headers.get('x-generation-id')
  expect((await gateway.call(`/generation/content?id=${id}`)).status).toBe(404)
  expect(await loggedOf('/chat/completions', chat('tiny'))).toMatchObject({ error: null })
})

test('no file and no log line has a logged text in clear', async () => {
  const mark = 'purple-marmot-4411'
  answers['tiny'] = () =>
    unary(mark.toUpperCase())({ path: '', headers: new Headers(), body: {} }, new Request('http://x'))
  const response = await gateway.call(
    '/chat/completions',
    chat('tiny', { messages: [{ role: 'user', content: mark }] }),
  )
  await response.text()
  await gateway.deps.contents.close()
  for (const name of ['bodies.db', 'bodies.db-wal', 'sluice.db', 'sluice.db-wal']) {
    const bytes = readFileSync(join(gateway.folder, name))
    expect([name, bytes.includes(mark), bytes.includes(mark.toUpperCase())]).toEqual([name, false, false])
  }
  expect(lines.join('')).not.toContain(mark)
})
