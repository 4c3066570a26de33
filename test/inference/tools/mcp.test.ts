import { describe, expect, test } from 'bun:test'
import type { McpAccess } from '../../../src/core/mcp.ts'
import { newConversation } from '../../../src/core/request.ts'
import { mcpRequestOf } from '../../../src/inference/tools/mcp.ts'

const access: McpAccess = {
  servers: [{ label: 'things', url: 'https://things.example/mcp' }],
  list: async () => [{ name: 'add', description: '', inputSchema: { type: 'object' }, annotations: {} }],
  open: () => ({ call: async () => '', close: () => Promise.resolve() }),
  close: () => Promise.resolve(),
}

/** The functions that an entry becomes; null: it is left to a provider. */
async function functionsOf(fields: Record<string, unknown>, dialect: 'chat' | 'responses' = 'chat') {
  const data = { type: 'mcp', require_approval: 'never', ...fields }
  const tools = [{ type: 'other' as const, data }]
  const request = {
    ...newConversation({ models: ['m'], messages: [] }),
    dialect,
    tools,
    body: { tools: [data] },
  }
  const mcp = await mcpRequestOf(request, access)
  return mcp && [...mcp.functions.values()].flat().map(({ tool }) => tool.name)
}

describe('a server of the operator', () => {
  test('is named by its label, beside which its address may stand in any spelling', async () => {
    for (const server_url of [
      undefined,
      null,
      'https://things.example/mcp',
      'HTTPS://Things.example:443/mcp',
    ])
      expect(await functionsOf({ server_label: 'things', server_url })).toEqual(['things_add'])
  })

  test('is not called under another label or at another address', async () => {
    const places = [
      { server_label: 'mine', server_url: 'https://things.example/mcp' },
      { server_label: 'things', server_url: 'https://things.example/other' },
      { server_label: 'things', connector_id: 'connector_gmail' },
    ]
    for (const dialect of ['chat', 'responses'] as const)
      for (const place of places) await expect(functionsOf(place, dialect)).rejects.toThrow('tools[0].')
  })
})

test('a server that is not listed is for providers of Responses, and refused in chat', async () => {
  for (const place of [{ server_url: 'https://a.example/mcp' }, { connector_id: 'connector_gmail' }]) {
    expect(await functionsOf({ server_label: 'mine', ...place }, 'responses')).toBeNull()
    await expect(functionsOf({ server_label: 'mine', ...place })).rejects.toThrow('It has things')
  }
  await expect(functionsOf({ server_label: 'mine' }, 'responses')).rejects.toThrow('It has things')
})
