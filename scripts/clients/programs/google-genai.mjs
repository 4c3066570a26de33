import { GoogleGenAI } from '@google/genai'
import { key, model, PROMPT, piece, report, TOOL, temperatureIn, url } from './report.mjs'

const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } })
const contents = [{ role: 'user', parts: [{ text: PROMPT }] }]

await report({
  gemini: {
    async answer(out) {
      piece(out, (await client.models.generateContent({ model, contents })).text)
    },
    async stream(out) {
      let last
      for await (const chunk of await client.models.generateContentStream({ model, contents })) {
        piece(out, chunk.text)
        last = chunk.candidates?.[0]?.finishReason ?? last
      }
      if (last !== 'STOP') throw new Error(`the finish reason is ${last}`)
    },
    async tools(out) {
      const { parameters: parametersJsonSchema, ...rest } = TOOL
      const config = { tools: [{ functionDeclarations: [{ ...rest, parametersJsonSchema }] }] }
      const first = await client.models.generateContent({ model, contents, config })
      const [call] = first.functionCalls
      const response = { output: temperatureIn(call.args.city) }
      const next = [
        ...contents,
        first.candidates[0].content,
        { role: 'user', parts: [{ functionResponse: { id: call.id, name: call.name, response } }] },
      ]
      piece(out, (await client.models.generateContent({ model, contents: next, config })).text)
    },
  },
})
