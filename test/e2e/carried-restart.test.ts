/** What a conversation carries over a restart: sealed reasoning with the client, and remembered items. */
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../src/core/events.ts'
import { BOOTSTRAP, killServers, startServer } from '../cli/process.ts'
import { startUpstream, USAGE } from '../upstream.ts'
import { removeVerified } from '../verified.ts'

const CANARY = 'the-tide-turns-at-noon'
const upstream = startUpstream()
const folder = mkdtempSync(join(tmpdir(), 'sluice-carried-'))
const data = join(folder, 'data')
afterAll(async () => {
  killServers()
  await upstream.stop()
  removeVerified(folder)
})

test('both are there after SIGTERM and a new start, and neither lies on the disk in clear', async () => {
  writeFileSync(join(folder, 'sluice.yaml'), '{}')
  const env = { ...BOOTSTRAP, DEEPSEEK_API_KEY: 'secret', DEEPSEEK_BASE_URL: upstream.baseUrl }
  const call = { id: 'call_1', type: 'function', function: { name: 'tide', arguments: '{}' } }
  const message = { role: 'assistant', content: null, reasoning_content: CANARY, tool_calls: [call] }
  upstream.on('deepseek-v4-flash', () =>
    Response.json({
      id: 'chatcmpl-up',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      usage: USAGE,
    }),
  )
  const ask = async (url: string, input: unknown): Promise<JsonObject[]> => {
    const response = await fetch(`${url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${BOOTSTRAP.SLUICE_API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'deepseek/deepseek-v4-flash',
        include: ['reasoning.encrypted_content'],
        input,
      }),
    })
    const text = await response.text()
    expect({ status: response.status, text }).toMatchObject({ status: 200 })
    return JSON.parse(text).output
  }
  const user = { role: 'user', content: 'When?' }
  const output = { type: 'function_call_output', call_id: 'call_1', output: '12:00' }
  const replayed = () => {
    const { messages } = upstream.seen.at(-1)?.body ?? {}
    return Array.isArray(messages)
      ? messages.find(({ role }) => role === 'assistant')?.reasoning_content
      : null
  }

  const first = await startServer(data, { cwd: folder, env })
  const items = await ask(first.url, [user])
  expect(await first.stop()).toBe(0)
  const names = readdirSync(data, { withFileTypes: true }).filter((entry) => entry.isFile())
  const disk = Buffer.concat(names.map(({ name }) => readFileSync(join(data, name))))
  expect(disk.includes(CANARY)).toBe(false)

  const second = await startServer(data, { cwd: folder, env })
  const sealed = items.map(({ type, id, summary, encrypted_content, call_id, name, arguments: json }) =>
    type === 'reasoning'
      ? { type, id, summary, encrypted_content }
      : { type, call_id, name, arguments: json },
  )
  await ask(second.url, [user, ...sealed, output])
  expect(replayed()).toBe(CANARY)
  await ask(second.url, [user, ...items.map(({ id }) => ({ type: 'item_reference', id })), output])
  expect(replayed()).toBe(CANARY)
  expect(await second.stop()).toBe(0)
}, 30_000)
