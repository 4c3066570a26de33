/** The catalogue, inference and its records, spending. */
import { expect } from 'bun:test'
import * as errors from '@openrouter/sdk/models/errors'
import { API_KEY } from '../../gateway.ts'
import { type Flow, inference, known, MESSAGES, management, PIXEL, pagesOf } from './flow.ts'

export const inferenceFlows: Flow[] = [
  {
    name: 'the catalogue',
    key: inference,
    covers:
      'models: list get count listForUser; endpoints: list listZdrEndpoints; providers: list; embeddings: listModels; images: listModels listModelEndpoints',
    async run({ models, endpoints, providers, embeddings, images }) {
      const listed = (await pagesOf(models.list({}))).flatMap(({ result }) => result.data.map(({ id }) => id))
      expect(listed).toEqual(expect.arrayContaining(['lab/tide', 'sluice/demo']))
      expect(known(await models.count()).data.count).toBe(listed.length)
      expect(known(await models.get({ author: 'lab', slug: 'tide' })).data.id).toBe('lab/tide')
      const mine = await pagesOf(models.listForUser({ bearer: API_KEY }))
      expect(mine.flatMap(({ result }) => result.data.map(({ id }) => id))).toContain('lab/tide')
      const one = known(await endpoints.list({ author: 'lab', slug: 'tide' }))
      expect(one.data.endpoints).toMatchObject([{ providerName: 'Lab' }])
      expect(known(await endpoints.listZdrEndpoints()).data.map(({ modelId }) => modelId)).toContain(
        'lab/tide',
      )
      expect(known(await providers.list()).data.map(({ slug }) => slug)).toContain('lab')
      const vectors = await pagesOf(embeddings.listModels())
      expect(vectors.flatMap(({ result }) => result.data.map(({ id }) => id))).toContain('lab/vectors')
      expect(known(await images.listModels()).data.map(({ id }) => id)).toContain('lab/paint')
      const painters = known(await images.listModelEndpoints({ author: 'lab', slug: 'paint' }))
      expect(painters).toMatchObject({ id: 'lab/paint', endpoints: [{ providerName: 'Lab' }] })
    },
  },
  {
    name: 'chat and the records of a generation',
    key: inference,
    covers:
      'chat: send; embeddings: generate; generations: getGeneration listGenerationContent submitFeedback',
    async run({ chat, embeddings, generations }, gateway) {
      const answer = known(
        await chat.send({ chatRequest: { model: 'lab/tide', messages: MESSAGES, stream: false } }),
      )
      if (!('id' in answer)) throw new Error('the reply is a stream')
      expect(answer).toMatchObject({ choices: [{ message: { content: 'High.' } }] })
      const { data } = known(await generations.getGeneration({ id: answer.id }))
      expect(data).toMatchObject({
        id: answer.id,
        model: 'lab/tide',
        providerName: 'Lab',
        apiType: 'completions',
      })
      // A workspace without logging: the SDK throws its own error.
      const content = (id: string) => generations.listGenerationContent({ id })
      await expect(content(answer.id)).rejects.toBeInstanceOf(errors.NotFoundResponseError)
      await gateway.manage('PATCH', '/workspaces/default', { is_observability_io_logging_enabled: true })
      const logged = async (send: () => Promise<unknown>): Promise<unknown> => {
        const before = gateway.generations().length
        await send()
        return known(await content(String(gateway.generations()[before]?.['id']))).data
      }
      const chatRequest = { model: 'lab/tide', messages: MESSAGES, stream: false } as const
      expect(await logged(() => chat.send({ chatRequest }))).toEqual({
        input: { messages: MESSAGES },
        output: { completion: 'High.', reasoning: null },
        error: null,
      })
      const requestBody = { model: 'lab/vectors', input: 'x' }
      expect(await logged(() => embeddings.generate({ requestBody }))).toMatchObject({
        input: { prompt: 'x' },
      })
      const failing = { chatRequest: { ...chatRequest, model: 'lab/broken' } }
      expect(await logged(() => chat.send(failing).catch(() => null))).toMatchObject({
        output: { completion: null },
        error: {
          message: 'Lab answered with an error of its own',
          status: 502,
          providerName: 'Lab',
          raw: null,
          previousErrors: [{ code: 500, providerName: 'Lab', raw: null }],
        },
      })
      await gateway.manage('PATCH', '/workspaces/default', { is_observability_io_logging_enabled: false })
      const submitGenerationFeedbackRequest = {
        generationId: answer.id,
        category: 'latency' as const,
        comment: 'Slow.',
      }
      const thanks = await generations.submitFeedback({ submitGenerationFeedbackRequest })
      expect(known(thanks).data).toEqual({ success: true })
    },
  },
  {
    name: 'inference of every other kind',
    key: inference,
    covers:
      'responses: send; beta.responses: send; embeddings: generate; rerank: rerank; images: generate; tts: createSpeech; stt: createTranscription createTranscriptionMultipart; : callModel',
    async run(sdk) {
      const { responses, beta, embeddings, rerank, images, tts, stt } = sdk
      for (const room of [responses, beta.responses]) {
        const response = await room.send({
          responsesRequest: { model: 'lab/tide', input: 'Tide?', stream: false },
        })
        expect(known(response)).toMatchObject({ status: 'completed', outputText: 'High.' })
      }
      expect(await sdk.callModel({ model: 'lab/tide', input: 'Tide?' }).getText()).toBe('High.')
      const vectors = await embeddings.generate({ requestBody: { model: 'lab/vectors', input: 'x' } })
      expect(known(vectors)).toMatchObject({ data: [{ embedding: [0.5, 1] }] })
      const ranked = await rerank.rerank({
        requestBody: { model: 'lab/judge', query: 'q', documents: ['d'] },
      })
      expect(known(ranked)).toMatchObject({ results: [{ relevanceScore: 0.5 }] })
      const image = await images.generate({
        imageGenerationRequest: { model: 'lab/paint', prompt: 'A tide', stream: false },
      })
      expect(known(image)).toMatchObject({ data: [{ b64Json: PIXEL }] })
      const sound = await tts.createSpeech({
        speechRequest: { model: 'lab/voice', input: 'High.', voice: 'alto' },
      })
      expect(await new Response(sound).text()).toBe('sound')
      const text = await stt.createTranscription({
        sttRequest: { model: 'lab/ears', inputAudio: { data: 'UklGRg==', format: 'wav' } },
      })
      expect(known(text)).toMatchObject({ text: 'High.' })
      const file = { fileName: 'a.wav', content: new Blob(['RIFF....WAVE']) }
      const again = await stt.createTranscriptionMultipart({ requestBody: { model: 'lab/ears', file } })
      expect(known(again)).toMatchObject({ text: 'High.' })
    },
  },
  {
    name: 'spending',
    key: management,
    covers: 'credits: getCredits; analytics: getUserActivity getAnalyticsMeta queryAnalytics',
    async run({ credits, analytics }, gateway) {
      await gateway.call('/chat/completions', { model: 'lab/tide', messages: MESSAGES })
      expect(known(await credits.getCredits()).data).toMatchObject({
        totalCredits: expect.any(Number),
        totalUsage: expect.any(Number),
      })
      const { data } = known(await analytics.getUserActivity({}))
      expect(data).toContainEqual(expect.objectContaining({ model: 'lab/tide', providerName: 'Lab' }))
      const meta = known(await analytics.getAnalyticsMeta())
      const [metric, dimension] = [meta.data.metrics[0]?.name ?? '', meta.data.dimensions[0]?.name ?? '']
      const query = await analytics.queryAnalytics({
        requestBody: { metrics: [metric], dimensions: [dimension] },
      })
      expect(known(query).data.metadata.rowCount).toBeGreaterThan(0)
    },
  },
]
