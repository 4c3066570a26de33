import OpenAI from 'openai'
import { key, model, PROMPT, piece, report, TOOL, temperatureIn, url } from './report.mjs'

const client = new OpenAI({ baseURL: `${url}/api/v1`, apiKey: key })
const messages = [{ role: 'user', content: PROMPT }]

const chat = {
  async answer(out) {
    const reply = await client.chat.completions.create({ model, messages })
    piece(out, reply.choices[0].message.content)
  },
  async stream(out) {
    const stream = await client.chat.completions.create({ model, messages, stream: true })
    for await (const chunk of stream) piece(out, chunk.choices[0]?.delta?.content)
  },
  async tools(out) {
    const { parameters, ...rest } = TOOL
    const runner = client.chat.completions.runTools({
      model,
      messages,
      stream: true,
      tools: [
        {
          type: 'function',
          function: {
            ...rest,
            parameters,
            parse: JSON.parse,
            function: ({ city }) => temperatureIn(city),
          },
        },
      ],
    })
    piece(out, await runner.finalContent())
  },
}

const responses = {
  async answer(out) {
    piece(out, (await client.responses.create({ model, input: PROMPT })).output_text)
  },
  async stream(out) {
    const stream = client.responses.stream({ model, input: PROMPT })
    stream.on('response.output_text.delta', ({ delta }) => piece(out, delta))
    const last = await stream.finalResponse()
    if (last.status !== 'completed') throw new Error(`${last.status}: ${last.error?.message}`)
  },
  async tools(out) {
    const tools = [{ type: 'function', ...TOOL, strict: false }]
    const first = await client.responses.create({ model, input: PROMPT, tools })
    const call = first.output.find(({ type }) => type === 'function_call')
    const output = temperatureIn(JSON.parse(call.arguments).city)
    const result = { type: 'function_call_output', call_id: call.call_id, output }
    const input = [{ role: 'user', content: PROMPT }, ...first.output, result]
    piece(out, (await client.responses.create({ model, input, tools })).output_text)
  },
}

await report({ chat, responses })
