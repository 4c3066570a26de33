import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { z } from 'zod'
import { image, key, linger, model, PROMPT, piece, report, temperatureIn, url } from './report.mjs'

const temperature = createTool({
  id: 'temperature',
  description: 'The temperature in a city.',
  inputSchema: z.object({ city: z.string() }),
  outputSchema: z.string(),
  execute: async ({ city }) => temperatureIn(city),
})
const base = { baseURL: `${url}/api/v1`, apiKey: key, name: 'sluice' }

const surface = (chosen) => {
  const agent = (tools = {}) =>
    new Agent({ id: 'helper', name: 'helper', instructions: 'Help.', model: chosen(), tools })
  return {
    async answer(out) {
      const { text, error } = await agent().generate(PROMPT)
      if (error) throw error
      piece(out, text)
    },
    async image(out) {
      const part = { type: 'image', image: `data:image/png;base64,${image}`, mimeType: 'image/png' }
      const content = [{ type: 'text', text: PROMPT }, part]
      piece(out, (await agent().generate([{ role: 'user', content }])).text)
    },
    async stream(out) {
      const result = await agent().stream(PROMPT)
      for await (const text of result.textStream) piece(out, text)
      if (result.error) throw result.error
    },
    async tools(out) {
      piece(out, (await agent({ temperature }).generate(PROMPT)).text)
    },
    async cancel() {
      const stop = new AbortController()
      const result = await agent().stream(PROMPT, { abortSignal: stop.signal })
      for await (const _ of result.textStream) stop.abort()
      await linger()
    },
  }
}

await report({
  compatible: surface(() => createOpenAICompatible(base)(model)),
  url: surface(() => ({ id: `sluice/${model}`, url: base.baseURL, apiKey: key })),
})
