import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { image, key, linger, model, PROMPT, piece, report, TOOL, temperatureIn, url } from './report.mjs'

const client = new Anthropic({ baseURL: url, authToken: key, apiKey: null })
const messages = [{ role: 'user', content: PROMPT }]
const request = { model, messages, max_tokens: 1000 }
const textOf = ({ content }) => content.find(({ type }) => type === 'text')?.text

await report({
  messages: {
    async answer(out) {
      piece(out, textOf(await client.messages.create(request)))
    },
    async stream(out) {
      const stream = client.messages.stream(request)
      stream.on('text', (text) => piece(out, text))
      await stream.finalMessage()
    },
    async tools(out) {
      const { parameters: input_schema, ...rest } = TOOL
      const tools = [{ ...rest, input_schema }]
      const first = await client.messages.stream({ ...request, tools }).finalMessage()
      const call = first.content.find(({ type }) => type === 'tool_use')
      const result = { type: 'tool_result', tool_use_id: call.id, content: temperatureIn(call.input.city) }
      const next = [
        ...messages,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [result] },
      ]
      piece(out, textOf(await client.messages.stream({ ...request, messages: next, tools }).finalMessage()))
    },
    async image(out) {
      const source = { type: 'base64', media_type: 'image/png', data: image }
      const content = [
        { type: 'text', text: PROMPT },
        { type: 'image', source },
      ]
      piece(out, textOf(await client.messages.create({ ...request, messages: [{ role: 'user', content }] })))
    },
    async cancel() {
      const stream = client.messages.stream(request)
      stream.on('text', () => stream.abort())
      await stream.done().catch(() => undefined)
      await linger()
    },
  },
  runner: {
    async tools(out) {
      const { parameters: inputSchema, ...rest } = TOOL
      const tool = betaTool({ ...rest, inputSchema, run: ({ city }) => temperatureIn(city) })
      piece(out, textOf(await client.beta.messages.toolRunner({ ...request, tools: [tool] }).runUntilDone()))
    },
  },
})
