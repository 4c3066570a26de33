/** The clients of OpenRouter, unchanged but for the address and the key, against the binary. */
import { describe, expect, test } from 'bun:test'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { OpenRouter } from '@openrouter/sdk'
import { embed, generateImage, generateText, isStepCount, streamText, tool } from 'ai'
import { z } from 'zod'
import { ANSWER, CALLS, RESULTS, SIGNATURES } from '../e2e/thinking/turn.ts'
import { HI, key, MODELS, serveBinary } from './served.ts'
import { PIXEL, SOUND, TRANSCRIPT, unknownIn, wireOf } from './upstream.ts'

const served = serveBinary()

describe('the ai package with the provider of OpenRouter', () => {
  const provider = () => createOpenRouter({ baseURL: `${served.url}/api/v1`, apiKey: key })
  const answers = (): string[] => [...RESULTS]
  const toolsOf = (results: string[]) => ({
    tide: tool({ inputSchema: z.object({ port: z.string() }), execute: () => results.shift() }),
    clock: tool({ inputSchema: z.object({}), execute: () => results.shift() }),
  })

  test.each(MODELS)('generateText and streamText loop with tools, %s behind', async (_, model) => {
    const asked = { model: provider()(model), prompt: 'When are the tides?', stopWhen: isStepCount(3) }
    const complete = await generateText({ ...asked, tools: toolsOf(answers()) })
    expect(complete.text).toBe(ANSWER)
    expect(complete.steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop'])
    expect(complete.steps[0]?.toolCalls.map(({ toolName, input }) => [toolName, input])).toEqual(
      CALLS.map(({ name, args }) => [name, args]),
    )
    // The package omits thoughts without a signature.
    const sent = served.upstream.seen.at(-1)
    const demanded = JSON.stringify(wireOf(sent?.path ?? '')?.demanded)
    for (const signature of Object.values(SIGNATURES)) {
      if (demanded.includes(signature)) expect(JSON.stringify(sent?.body)).toContain(signature)
    }
    const streamed = streamText({ ...asked, tools: toolsOf(answers()) })
    let text = ''
    for await (const piece of streamed.textStream) text += piece
    expect(text).toEndWith(ANSWER)
    expect(await streamed.finishReason).toBe('stop')
    expect((await streamed.totalUsage).outputTokens).toBeGreaterThan(0)
  })

  test('embed and generateImage', async () => {
    const { embedding } = await embed({ model: provider().textEmbeddingModel('vectors'), value: 'one' })
    expect(embedding).toEqual([0.25, -0.5, 1])
    const { image } = await generateImage({ model: provider().imageModel('brush'), prompt: 'A tide' })
    expect(image.base64).toBe(PIXEL)
  })
})

describe('@openrouter/sdk', () => {
  const client = (): OpenRouter =>
    new OpenRouter({ apiKey: key, serverURL: `${served.url}/api/v1`, retryConfig: { strategy: 'none' } })

  test.each(MODELS)('chat with %s behind, in one piece and streamed', async (_, model) => {
    const { chat } = client()
    const complete = await chat.send({ chatRequest: { model, messages: HI, stream: false } })
    expect(complete).toMatchObject({ choices: [{ message: { content: ANSWER }, finishReason: 'stop' }] })
    expect(unknownIn(complete)).toEqual([])
    const streamed = await chat.send({ chatRequest: { model, messages: HI, stream: true } })
    if (!(streamed instanceof ReadableStream)) throw new Error('the reply is not a stream')
    let text = ''
    for await (const chunk of streamed) {
      expect(unknownIn(chunk)).toEqual([])
      text += chunk.choices[0]?.delta.content ?? ''
    }
    expect(text).toBe(ANSWER)
  })

  test.each(MODELS)('responses with %s behind, in one piece and streamed, with calls', async (_, model) => {
    const { responses } = client()
    const tools = ['tide', 'clock'].map((name) => ({
      type: 'function' as const,
      name,
      parameters: { type: 'object' },
    }))
    const asked = { model, input: 'When are the tides?', tools }
    const complete = await responses.send({ responsesRequest: { ...asked, stream: false } })
    if (complete instanceof ReadableStream) throw new Error('the reply is a stream')
    expect(unknownIn(complete)).toEqual([])
    const callsIn = (output: readonly { type?: string; name?: string }[]): unknown[] =>
      output.flatMap(({ type, name }) => (type === 'function_call' ? [name] : []))
    expect(callsIn(complete.output)).toEqual(CALLS.map(({ name }) => name))
    const streamed = await responses.send({ responsesRequest: { ...asked, stream: true } })
    if (!(streamed instanceof ReadableStream)) throw new Error('the reply is not a stream')
    const types: string[] = []
    const unknown: string[] = []
    for await (const event of streamed) {
      unknown.push(...unknownIn(event))
      types.push(event.type)
    }
    expect(types.at(-1)).toBe('response.completed')
    expect(unknown).toEqual([])
  })

  test('embeddings, rankings, models', async () => {
    const { embeddings, models, rerank } = client()
    const made = await embeddings.generate({ requestBody: { model: 'vectors', input: 'one' } })
    expect(made).toMatchObject({ data: [{ embedding: [0.25, -0.5, 1] }] })
    expect(unknownIn(made)).toEqual([])
    const ranked = await rerank.rerank({
      requestBody: { model: 'judge', query: 'High?', documents: ['low', 'high'] },
    })
    expect(ranked).toMatchObject({ results: [{ index: 1, relevanceScore: 0.9 }] })
    expect(unknownIn(ranked)).toEqual([])
    const listed: string[] = []
    for await (const { result } of await models.list()) {
      expect(unknownIn(result)).toEqual([])
      listed.push(...result.data.map(({ id }) => id))
    }
    expect(listed).toEqual(expect.arrayContaining(['o-lab', 'claude-lab', 'sluice/demo']))
  })

  test('images, speech, transcription, files, generations, endpoints', async () => {
    const { images, tts, stt, files, chat, generations, endpoints, providers } = client()
    const painted = await images.generate({
      imageGenerationRequest: { model: 'brush', prompt: 'A tide', stream: false },
    })
    if (painted instanceof ReadableStream) throw new Error('the reply is a stream')
    expect(painted.data.map(({ b64Json }) => b64Json)).toEqual([PIXEL])
    const speech = await tts.createSpeech({
      speechRequest: { model: 'voice', input: 'High.', voice: 'alloy', responseFormat: 'mp3' },
    })
    expect(await new Response(speech).text()).toBe(SOUND)
    const heard = await stt.createTranscription({
      sttRequest: { model: 'ear', inputAudio: { data: btoa('RIFF....WAVEfmt '), format: 'wav' } },
    })
    expect(heard.text).toBe(TRANSCRIPT)
    const file = await files.upload({
      requestBody: { file: { fileName: 'tides.csv', content: new Blob(['port,time\n']) } },
    })
    expect(file).toMatchObject({ filename: 'tides.csv', mimeType: 'text/csv' })
    if (file.shape !== 'openrouter') throw new Error('the file has another shape')
    expect(await new Response(await files.download({ fileId: file.id })).text()).toBe('port,time\n')
    const gone = await files.delete({ fileId: file.id })
    const chatted = await chat.send({ chatRequest: { model: 'o-lab', messages: HI, stream: false } })
    if (chatted instanceof ReadableStream) throw new Error('the reply is a stream')
    const { data } = await generations.getGeneration({ id: chatted.id })
    expect(data).toMatchObject({ id: chatted.id, model: 'o-lab', finishReason: 'stop' })
    const listed = [await endpoints.listZdrEndpoints(), await providers.list(), await images.listModels()]
    for (const answer of [painted, heard, file, gone, data, ...listed]) expect(unknownIn(answer)).toEqual([])
  })
})
