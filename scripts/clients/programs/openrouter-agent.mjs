import { callModel, OpenRouter, tool } from '@openrouter/agent'
import { z } from 'zod'
import { key, model, PROMPT, piece, report, TOOL, temperatureIn, url } from './report.mjs'

const client = new OpenRouter({ apiKey: key, serverURL: `${url}/api/v1` })
const temperature = tool({
  name: TOOL.name,
  description: TOOL.description,
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => temperatureIn(city),
})

await report({
  responses: {
    async answer(out) {
      piece(out, await callModel(client, { model, input: PROMPT }).getText())
    },
    async stream(out) {
      const result = callModel(client, { model, input: PROMPT })
      for await (const text of result.getTextStream()) piece(out, text)
      // The text alone ends without an error.
      await result.getResponse()
    },
    async tools(out) {
      piece(out, await callModel(client, { model, input: PROMPT, tools: [temperature] }).getText())
    },
  },
})
