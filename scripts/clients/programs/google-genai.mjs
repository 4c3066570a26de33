import { GoogleGenAI } from '@google/genai'
import { image, key, linger, model, PROMPT, piece, report, TOOL, temperatureIn, url } from './report.mjs'

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
    async image(out) {
      const parts = [{ text: PROMPT }, { inlineData: { mimeType: 'image/png', data: image } }]
      piece(out, (await client.models.generateContent({ model, contents: [{ role: 'user', parts }] })).text)
    },
    async cancel() {
      const stop = new AbortController()
      const config = { abortSignal: stop.signal }
      try {
        for await (const _ of await client.models.generateContentStream({ model, contents, config }))
          stop.abort()
      } catch {
        // It was cancelled.
      }
      await linger()
    },
  },
})
