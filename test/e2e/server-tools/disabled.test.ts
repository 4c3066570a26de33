import { expect, test } from 'bun:test'
import { ask, messageOf, says, startTools } from './setup.ts'

const { upstream, gateway } = await startTools()
upstream.on('tiny', says('Hi'))

async function disable(names: readonly string[] | null): Promise<void> {
  const { data } = await (await gateway.manage('GET', '/workspaces')).json()
  const response = await gateway.manage('PATCH', `/workspaces/${data[0].id}`, {
    disabled_server_tools: names,
  })
  expect(response.status).toBe(200)
}

test('a tool that the workspace has disabled is a 403 that names it, until it is allowed again', async () => {
  await disable(['openrouter:calculator', 'web_search'])
  for (const type of [
    'openrouter:calculator',
    'sluice:calculator',
    'openrouter:web_search',
    'web_search_preview',
  ]) {
    const response = await gateway.call('/chat/completions', ask({ tools: [{ type }] }))
    expect(response.status).toBe(403)
    expect(await messageOf(response)).toBe(`The workspace has disabled the server tool "${type}"`)
  }
  const messages = [{ role: 'user', content: 'Hi' }]
  const own = {
    model: 'tiny',
    max_tokens: 9,
    messages,
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  }
  expect((await gateway.call('/messages', own)).status).toBe(403)
  expect(upstream.seen).toHaveLength(0)
  expect(
    (await gateway.call('/chat/completions', ask({ tools: [{ type: 'sluice:datetime' }] }))).status,
  ).toBe(200)
  const mine = { type: 'function', function: { name: 'calculator' } }
  expect((await gateway.call('/chat/completions', ask({ tools: [mine] }))).status).toBe(200)
  await disable(null)
  expect((await gateway.call('/chat/completions', ask())).status).toBe(200)
})

test('a tool that a guardrail of the key has disabled is a 403 that names both; other keys may use it', async () => {
  const made = await gateway.manage('POST', '/guardrails', {
    name: 'No sums',
    disabled_server_tools: ['calculator'],
  })
  expect(made.status).toBe(201)
  const { id, disabled_server_tools } = (await made.json()).data
  expect(disabled_server_tools).toEqual(['calculator'])
  const { key, hash } = await gateway.makeKey({})
  const assigned = await gateway.manage('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [hash] })
  expect(assigned.status).toBe(200)
  const asked = () => gateway.call('/chat/completions', ask(), { authorization: `Bearer ${key}` })
  const response = await asked()
  expect(response.status).toBe(403)
  expect(await messageOf(response)).toBe(
    'The guardrail "No sums" has disabled the server tool "openrouter:calculator"',
  )
  expect((await gateway.call('/chat/completions', ask())).status).toBe(200)
  await gateway.manage('PATCH', `/guardrails/${id}`, { disabled_server_tools: null })
  expect((await asked()).status).toBe(200)
})
