/** Clients that people have already, unchanged but for the address and the key, against the binary. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { OpenRouter } from '@openrouter/sdk'
import { embed, generateImage, generateText, isStepCount, streamText, tool } from 'ai'
import OpenAI, { toFile } from 'openai'
import { z } from 'zod'
import { BOOTSTRAP, killServers, type Served, startServer } from '../cli/process.ts'
import { SHAPES } from '../e2e/thinking/shapes.ts'
import { ANSWER, CALLS, RESULTS, SIGNATURES } from '../e2e/thinking/turn.ts'
import { removeVerified } from '../verified.ts'
import { PIXEL, SOUND, startUpstream, TRANSCRIPT, type Upstream, unknownIn, wireOf } from './upstream.ts'

const root = mkdtempSync(join(tmpdir(), 'sluice-clients-'))
const key = BOOTSTRAP.SLUICE_API_KEY
let server: Served
let upstream: Upstream

beforeAll(async () => {
  const build = Bun.spawn(
    [process.execPath, join(import.meta.dir, '../../build.ts'), '--out', join(root, 'out')],
    { stdout: 'ignore', stderr: 'inherit' },
  )
  if ((await build.exited) !== 0) throw new Error('the build failed')
  upstream = startUpstream()
  const cwd = join(root, 'cwd')
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'sluice.yaml'), JSON.stringify(upstream.settings))
  const command = [join(root, 'out', process.platform === 'win32' ? 'sluice.exe' : 'sluice')]
  server = await startServer(join(root, 'data'), { command, cwd, env: BOOTSTRAP })
}, 120_000)
afterAll(async () => {
  expect(await server.stop()).toBe(0)
  killServers()
  await upstream.stop()
  removeVerified(root)
})

/** The clients' promises are answered only when they are awaited. */
const settled = async (request: PromiseLike<unknown>): Promise<unknown> => request

const HI = [{ role: 'user' as const, content: 'Hello' }]
/** The model of each wire format, by the name of its shape. */
const MODELS = SHAPES.map(({ name, model }) => [name, model.includes('/') ? 'chat-lab' : model] as const)

describe('openai', () => {
  const client = (): OpenAI => new OpenAI({ baseURL: `${server.url}/v1`, apiKey: key, maxRetries: 0 })

  test.each(MODELS)('chat with %s behind, in one piece and streamed', async (_, model) => {
    const whole = await client().chat.completions.create({ model, messages: HI })
    expect(whole.choices[0]).toMatchObject({ message: { content: ANSWER }, finish_reason: 'stop' })
    const stream = client().chat.completions.stream({ model, messages: HI })
    expect(await stream.finalContent()).toBe(ANSWER)
    const { usage } = await stream.finalChatCompletion()
    expect(usage).toMatchObject({ prompt_tokens: expect.any(Number), cost: expect.any(Number) })
  })

  test('responses: stored, gone on with, looked up, listed, deleted', async () => {
    const { responses } = client()
    const first = await responses.create({ model: 'o-lab', input: 'Hello', store: true })
    expect(first).toMatchObject({ status: 'completed', output_text: ANSWER })
    const second = await responses.create({
      model: 'claude-lab',
      input: 'And now?',
      previous_response_id: first.id,
      store: true,
    })
    expect(second.previous_response_id).toBe(first.id)
    expect(upstream.seen.at(-1)?.body.messages).toEqual([
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: ANSWER },
      { role: 'user', content: 'And now?' },
    ])
    expect(await responses.retrieve(second.id)).toMatchObject({ id: second.id, output_text: ANSWER })
    const items: unknown[] = []
    for await (const item of responses.inputItems.list(second.id, { order: 'asc' })) items.push(item)
    expect(items).toMatchObject([
      { role: 'user', content: [{ text: 'Hello' }] },
      { role: 'assistant', content: [{ text: ANSWER }] },
      { role: 'user', content: [{ text: 'And now?' }] },
    ])
    await responses.delete(second.id)
    await expect(settled(responses.retrieve(second.id))).rejects.toBeInstanceOf(OpenAI.NotFoundError)
    const gone = responses.create({ model: 'o-lab', input: 'Hi', previous_response_id: second.id })
    await expect(settled(gone)).rejects.toBeInstanceOf(OpenAI.NotFoundError)
  })

  test('responses in the background: polled to the end; cancelled while they run', async () => {
    const { responses } = client()
    let polled = await responses.create({ model: 'gemini-lab', input: 'Hello', background: true })
    expect(polled.status).toBe('queued')
    while (polled.status === 'queued' || polled.status === 'in_progress') {
      polled = await responses.retrieve(polled.id)
    }
    expect(polled).toMatchObject({ status: 'completed', output_text: ANSWER })
    const slow = await responses.create({ model: 'slow', input: 'Hello', background: true })
    await upstream.asked
    expect((await responses.cancel(slow.id)).status).toBe('cancelled')
    await upstream.left
    expect(await responses.retrieve(slow.id)).toMatchObject({ status: 'cancelled' })
  })

  test('responses streamed: the helper puts together what was said', async () => {
    const types: string[] = []
    const stream = client().responses.stream({ model: 'bedrock-lab', input: 'Hello' })
    for await (const { type } of stream) types.push(type)
    expect(types.slice(0, 2)).toEqual(['response.created', 'response.in_progress'])
    expect(types.at(-1)).toBe('response.completed')
    expect((await stream.finalResponse()).output_text).toBe(ANSWER)
  })

  test('embeddings, images, speech, transcriptions', async () => {
    const { data } = await client().embeddings.create({ model: 'vectors', input: ['one', 'two'] })
    expect(data.map(({ embedding, index }) => [index, ...embedding])).toEqual([
      [0, 0.25, -0.5, 1],
      [1, 0.25, -0.5, 1],
    ])
    const images = await client().images.generate({ model: 'brush', prompt: 'A tide' })
    expect(images.data?.map(({ b64_json }) => b64_json)).toEqual([PIXEL])
    const speech = await client().audio.speech.create({ model: 'voice', input: 'High.', voice: 'alloy' })
    expect(speech.headers.get('content-type')).toStartWith('audio/')
    expect(await speech.text()).toBe(SOUND)
    const heard = await client().audio.transcriptions.create({
      model: 'ear',
      file: await toFile(Buffer.from('RIFF....WAVEfmt '), 'tide.wav', { type: 'audio/wav' }),
    })
    expect(heard.text).toBe(TRANSCRIPT)
  })

  test('files: uploaded, listed, shown, downloaded, used, deleted', async () => {
    const { files, chat } = client()
    const text = 'Brest 12:03\n'
    const made = await files.create({
      file: await toFile(Buffer.from(text), 'tides.txt'),
      purpose: 'user_data',
    })
    expect(made.filename).toBe('tides.txt')
    const listed: string[] = []
    for await (const { id } of files.list()) listed.push(id)
    expect(listed).toEqual([made.id])
    expect(await files.retrieve(made.id)).toMatchObject({ id: made.id, filename: 'tides.txt' })
    expect(await (await files.content(made.id)).text()).toBe(text)
    const content = [
      { type: 'text' as const, text: 'When?' },
      { type: 'file' as const, file: { file_id: made.id } },
    ]
    await chat.completions.create({ model: 'claude-lab', messages: [{ role: 'user', content }] })
    expect(JSON.stringify(upstream.seen.at(-1)?.body)).toMatch(/Brest 12:03|QnJlc3QgMTI6MDMK/)
    expect(await files.delete(made.id)).toMatchObject({ id: made.id })
    await expect(settled(files.retrieve(made.id))).rejects.toBeInstanceOf(OpenAI.NotFoundError)
  })

  test('models are listed, and errors have their types', async () => {
    const listed: string[] = []
    for await (const { id } of client().models.list()) listed.push(id)
    expect(listed).toEqual(expect.arrayContaining(['o-lab', 'claude-lab', 'sluice/demo']))
    const { completions } = client().chat
    const unknown = completions.create({ model: 'no-such-model', messages: HI })
    await expect(settled(unknown)).rejects.toBeInstanceOf(OpenAI.NotFoundError)
    const wrong = completions.create({ model: 'o-lab', messages: HI, temperature: 9 })
    await expect(settled(wrong)).rejects.toBeInstanceOf(OpenAI.BadRequestError)
    await expect(settled(wrong)).rejects.toMatchObject({ message: expect.stringContaining('temperature') })
    const stranger = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'sk-wrong', maxRetries: 0 })
    await expect(settled(stranger.models.list())).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
  })
})

describe('@anthropic-ai/sdk', () => {
  const client = (): Anthropic =>
    new Anthropic({ baseURL: server.url, apiKey: key, authToken: null, maxRetries: 0 })

  test.each(MODELS)('messages with %s behind, in one piece and streamed', async (_, model) => {
    const asked = { model, max_tokens: 1000, messages: HI }
    const whole = await client().messages.create(asked)
    expect([whole.type, whole.stop_reason]).toEqual(['message', 'end_turn'])
    // A signature that the next turn must bring back may stand before it.
    expect(whole.content.at(-1)).toMatchObject({ type: 'text', text: ANSWER })
    const stream = client().messages.stream(asked)
    expect(await stream.finalText()).toBe(ANSWER)
    expect((await stream.finalMessage()).usage).toMatchObject({ output_tokens: expect.any(Number) })
  })

  test('count_tokens: what the provider says, and an estimate where it has no word for it', async () => {
    const { messages } = client()
    expect(await messages.countTokens({ model: 'claude-lab', messages: HI })).toEqual({ input_tokens: 4321 })
    const { input_tokens } = await messages.countTokens({ model: 'command-lab', messages: HI })
    expect(input_tokens).toBeGreaterThan(0)
  })

  test('errors have their types and Anthropic’s shape', async () => {
    const { messages } = client()
    const unknown = messages.create({ model: 'no-such-model', max_tokens: 10, messages: HI })
    await expect(settled(unknown)).rejects.toBeInstanceOf(Anthropic.NotFoundError)
    await expect(settled(unknown)).rejects.toMatchObject({
      error: { type: 'error', error: { type: 'not_found_error' } },
    })
    const wrong = messages.create({ model: 'claude-lab', max_tokens: 10, messages: [] })
    await expect(settled(wrong)).rejects.toBeInstanceOf(Anthropic.BadRequestError)
    await expect(settled(wrong)).rejects.toMatchObject({ message: expect.stringContaining('messages') })
    const stranger = new Anthropic({ baseURL: server.url, apiKey: 'wrong', authToken: null, maxRetries: 0 })
    const refused = stranger.messages.create({ model: 'claude-lab', max_tokens: 10, messages: HI })
    await expect(settled(refused)).rejects.toBeInstanceOf(Anthropic.AuthenticationError)
  })
})

describe('the ai package with the provider of OpenRouter', () => {
  const provider = () => createOpenRouter({ baseURL: `${server.url}/api/v1`, apiKey: key })
  const answers = (): string[] => [...RESULTS]
  const toolsOf = (results: string[]) => ({
    tide: tool({ inputSchema: z.object({ port: z.string() }), execute: () => results.shift() }),
    clock: tool({ inputSchema: z.object({}), execute: () => results.shift() }),
  })

  test.each(MODELS)('generateText and streamText go round with tools, %s behind', async (_, model) => {
    const asked = { model: provider()(model), prompt: 'When are the tides?', stopWhen: isStepCount(3) }
    const whole = await generateText({ ...asked, tools: toolsOf(answers()) })
    expect(whole.text).toBe(ANSWER)
    expect(whole.steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop'])
    expect(whole.steps[0]?.toolCalls.map(({ toolName, input }) => [toolName, input])).toEqual(
      CALLS.map(({ name, args }) => [name, args]),
    )
    // Thoughts that nobody signed the package leaves out itself.
    const sent = upstream.seen.at(-1)
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
    new OpenRouter({ apiKey: key, serverURL: `${server.url}/api/v1`, retryConfig: { strategy: 'none' } })

  test.each(MODELS)('chat with %s behind, in one piece and streamed', async (_, model) => {
    const { chat } = client()
    const whole = await chat.send({ chatRequest: { model, messages: HI, stream: false } })
    expect(whole).toMatchObject({ choices: [{ message: { content: ANSWER }, finishReason: 'stop' }] })
    expect(unknownIn(whole)).toEqual([])
    const streamed = await chat.send({ chatRequest: { model, messages: HI, stream: true } })
    if (!(streamed instanceof ReadableStream)) throw new Error('no stream came')
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
    const whole = await responses.send({ responsesRequest: { ...asked, stream: false } })
    if (whole instanceof ReadableStream) throw new Error('a stream came')
    expect(unknownIn(whole)).toEqual([])
    const callsIn = (output: readonly { type?: string; name?: string }[]): unknown[] =>
      output.flatMap(({ type, name }) => (type === 'function_call' ? [name] : []))
    expect(callsIn(whole.output)).toEqual(CALLS.map(({ name }) => name))
    const streamed = await responses.send({ responsesRequest: { ...asked, stream: true } })
    if (!(streamed instanceof ReadableStream)) throw new Error('no stream came')
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
    if (painted instanceof ReadableStream) throw new Error('a stream came')
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
    if (file.shape !== 'openrouter') throw new Error('a file of another form came')
    expect(await new Response(await files.download({ fileId: file.id })).text()).toBe('port,time\n')
    const gone = await files.delete({ fileId: file.id })
    const said = await chat.send({ chatRequest: { model: 'o-lab', messages: HI, stream: false } })
    if (said instanceof ReadableStream) throw new Error('a stream came')
    const { data } = await generations.getGeneration({ id: said.id })
    expect(data).toMatchObject({ id: said.id, model: 'o-lab', finishReason: 'stop' })
    const listed = [await endpoints.listZdrEndpoints(), await providers.list(), await images.listModels()]
    for (const answer of [painted, heard, file, gone, data, ...listed]) expect(unknownIn(answer)).toEqual([])
  })
})
