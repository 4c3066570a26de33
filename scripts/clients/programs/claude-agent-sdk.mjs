import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk'
import { z } from 'zod'
import { image, key, linger, model, PROMPT, piece, report, temperatureIn, url } from './report.mjs'

const abortController = new AbortController()
const options = {
  model,
  tools: [],
  settingSources: [],
  abortController,
  env: {
    ...process.env,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_SMALL_FAST_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // Its own number is ten, with pauses that grow: minutes for one cut stream.
    CLAUDE_CODE_MAX_RETRIES: '0',
  },
}

async function last(run) {
  for await (const message of run) {
    if (message.type !== 'result') continue
    if (message.is_error || message.subtype !== 'success')
      throw new Error(`${message.subtype}: ${message.result ?? JSON.stringify(message.errors)}`)
    return message.result
  }
}

const textIn = ({ event }) =>
  event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? event.delta.text : ''

/** Pieces, and the error of the result. */
async function* pieces() {
  for await (const message of query({
    prompt: PROMPT,
    options: { ...options, includePartialMessages: true },
  })) {
    if (message.type === 'stream_event') yield textIn(message)
    if (message.type === 'result' && message.is_error) throw new Error(message.result ?? message.subtype)
  }
}

async function* withImage() {
  const source = { type: 'base64', media_type: 'image/png', data: image }
  const content = [
    { type: 'text', text: PROMPT },
    { type: 'image', source },
  ]
  yield { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null }
}

const temperature = tool('temperature', 'In a city.', { city: z.string() }, async ({ city }) => ({
  content: [{ type: 'text', text: temperatureIn(city) }],
}))

await report({
  messages: {
    async answer(out) {
      piece(out, await last(query({ prompt: PROMPT, options })))
    },
    async stream(out) {
      for await (const text of pieces()) piece(out, text)
    },
    async tools(out) {
      const mcpServers = { weather: createSdkMcpServer({ name: 'weather', tools: [temperature] }) }
      const allowedTools = ['mcp__weather__temperature']
      piece(out, await last(query({ prompt: PROMPT, options: { ...options, mcpServers, allowedTools } })))
    },
    async image(out) {
      piece(out, await last(query({ prompt: withImage(), options })))
    },
    async cancel() {
      for await (const text of pieces()) if (text) break
      abortController.abort()
      await linger()
    },
  },
})
