import { ChatAnthropic } from '@langchain/anthropic'
import { tool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'
import { image, key, linger, model, PROMPT, piece, report, temperatureIn, url } from './report.mjs'

const temperature = tool(async ({ city }) => temperatureIn(city), {
  name: 'temperature',
  description: 'The temperature in a city.',
  schema: z.object({ city: z.string() }),
})
const asked = (content = PROMPT) => ({ messages: [{ role: 'user', content }] })
const configuration = { baseURL: `${url}/api/v1` }

const surface = (chosen) => {
  const agent = (...tools) => createReactAgent({ llm: chosen(), tools })
  const textOf = ({ messages }) => messages.at(-1).text
  return {
    async answer(out) {
      piece(out, textOf(await agent().invoke(asked())))
    },
    async image(out) {
      const url = { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } }
      piece(out, textOf(await agent().invoke(asked([{ type: 'text', text: PROMPT }, url]))))
    },
    async stream(out) {
      const stream = await agent().stream(asked(), { streamMode: 'messages' })
      for await (const [chunk] of stream) piece(out, chunk.text)
    },
    async tools(out) {
      piece(out, textOf(await agent(temperature).invoke(asked())))
    },
    async cancel() {
      const stop = new AbortController()
      try {
        const stream = await agent().stream(asked(), { streamMode: 'messages', signal: stop.signal })
        for await (const _ of stream) stop.abort()
      } catch {
        // It was cancelled.
      }
      await linger()
    },
  }
}

await report({
  chat: surface(() => new ChatOpenAI({ model, apiKey: key, configuration })),
  responses: surface(() => new ChatOpenAI({ model, apiKey: key, configuration, useResponsesApi: true })),
  anthropic: surface(() => new ChatAnthropic({ model, apiKey: key, anthropicApiUrl: url, maxTokens: 1000 })),
})
