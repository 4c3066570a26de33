import OpenAI from 'openai'
import { image, key, linger, model, PROMPT, piece, report, TOOL, temperatureIn, url } from './report.mjs'

const client = new OpenAI({ baseURL: `${url}/api/v1`, apiKey: key })
const messages = [{ role: 'user', content: PROMPT }]
const picture = `data:image/png;base64,${image}`

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
  async image(out) {
    const parts = [
      { type: 'text', text: PROMPT },
      { type: 'image_url', image_url: { url: picture } },
    ]
    const reply = await client.chat.completions.create({
      model,
      messages: [{ role: 'user', content: parts }],
    })
    piece(out, reply.choices[0].message.content)
  },
  async cancel() {
    const stream = await client.chat.completions.create({ model, messages, stream: true })
    for await (const chunk of stream) if (chunk.choices[0]?.delta?.content) break
    await linger()
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
  async image(out) {
    const content = [
      { type: 'input_text', text: PROMPT },
      { type: 'input_image', image_url: picture, detail: 'auto' },
    ]
    piece(out, (await client.responses.create({ model, input: [{ role: 'user', content }] })).output_text)
  },
  async cancel() {
    const stream = client.responses.stream({ model, input: PROMPT })
    for await (const { type } of stream) if (type === 'response.output_text.delta') break
    await linger()
  },
}

await report({ chat, responses })
