/** The official clients of OpenAI and Anthropic, unchanged but for the address and the key, against the binary. */
import { describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI, { toFile } from 'openai'
import { ANSWER } from '../e2e/thinking/turn.ts'
import { HI, key, MODELS, serveBinary } from './served.ts'
import { PIXEL, SOUND, TRANSCRIPT } from './upstream.ts'

const served = serveBinary()

/** The clients' promises are answered only when they are awaited. */
const settled = async (request: PromiseLike<unknown>): Promise<unknown> => request

describe('openai', () => {
  const client = (): OpenAI => new OpenAI({ baseURL: `${served.url}/v1`, apiKey: key, maxRetries: 0 })

  test.each(MODELS)('chat with %s behind, in one piece and streamed', async (_, model) => {
    const complete = await client().chat.completions.create({ model, messages: HI })
    expect(complete.choices[0]).toMatchObject({ message: { content: ANSWER }, finish_reason: 'stop' })
    const stream = client().chat.completions.stream({ model, messages: HI })
    expect(await stream.finalContent()).toBe(ANSWER)
    const { usage } = await stream.finalChatCompletion()
    expect(usage).toMatchObject({ prompt_tokens: expect.any(Number), cost: expect.any(Number) })
  })

  test('responses: stored, continued, retrieved, listed, deleted', async () => {
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
    expect(served.upstream.seen.at(-1)?.body.messages).toEqual([
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
    await served.upstream.asked
    expect((await responses.cancel(slow.id)).status).toBe('cancelled')
    await served.upstream.left
    expect(await responses.retrieve(slow.id)).toMatchObject({ status: 'cancelled' })
  })

  test('responses streamed: the helper collects the text', async () => {
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
    expect(JSON.stringify(served.upstream.seen.at(-1)?.body)).toMatch(/Brest 12:03|QnJlc3QgMTI6MDMK/)
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
    const stranger = new OpenAI({ baseURL: `${served.url}/v1`, apiKey: 'sk-wrong', maxRetries: 0 })
    await expect(settled(stranger.models.list())).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
  })
})

describe('@anthropic-ai/sdk', () => {
  const client = (): Anthropic =>
    new Anthropic({ baseURL: served.url, apiKey: key, authToken: null, maxRetries: 0 })

  test.each(MODELS)('messages with %s behind, in one piece and streamed', async (_, model) => {
    const asked = { model, max_tokens: 1000, messages: HI }
    const complete = await client().messages.create(asked)
    expect([complete.type, complete.stop_reason]).toEqual(['message', 'end_turn'])
    // A signature that the next turn must send back can precede it.
    expect(complete.content.at(-1)).toMatchObject({ type: 'text', text: ANSWER })
    const stream = client().messages.stream(asked)
    expect(await stream.finalText()).toBe(ANSWER)
    expect((await stream.finalMessage()).usage).toMatchObject({ output_tokens: expect.any(Number) })
  })

  test('count_tokens: the count of the provider, or an estimate if it has none', async () => {
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
    const stranger = new Anthropic({ baseURL: served.url, apiKey: 'wrong', authToken: null, maxRetries: 0 })
    const refused = stranger.messages.create({ model: 'claude-lab', max_tokens: 10, messages: HI })
    await expect(settled(refused)).rejects.toBeInstanceOf(Anthropic.AuthenticationError)
  })
})
