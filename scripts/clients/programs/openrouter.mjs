import { OpenRouter } from '@openrouter/sdk'
import { key, model, PROMPT, piece, report, TOOL, temperatureIn, url } from './report.mjs'

const client = new OpenRouter({ apiKey: key, serverURL: `${url}/api/v1` })
const messages = [{ role: 'user', content: PROMPT }]
const send = (chatRequest) => client.chat.send({ chatRequest: { model, messages, ...chatRequest } })

await report({
  chat: {
    async answer(out) {
      piece(out, (await send({})).choices[0].message.content)
    },
    async stream(out) {
      for await (const chunk of await send({ stream: true })) {
        if (chunk.error) throw new Error(`${chunk.error.code}: ${chunk.error.message}`)
        piece(out, chunk.choices[0]?.delta?.content)
      }
    },
    async tools(out) {
      const tools = [{ type: 'function', function: TOOL }]
      const { message } = (await send({ tools })).choices[0]
      const [call] = message.toolCalls
      const content = temperatureIn(JSON.parse(call.function.arguments).city)
      const result = { role: 'tool', toolCallId: call.id, content }
      const next = await send({ tools, messages: [...messages, message, result] })
      piece(out, next.choices[0].message.content)
    },
  },
})
