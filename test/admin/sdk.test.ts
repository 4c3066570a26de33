/** The public SDK of the same API, unchanged but for its address, through every function that is in our scope. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { OpenRouter } from '@openrouter/sdk'
import { CreateObservabilityDestinationRequestType } from '@openrouter/sdk/models'
import * as errors from '@openrouter/sdk/models/errors'
import { hashKey } from '../../src/core/keys.ts'
import { atomically } from '../../src/db/database.ts'
import { users } from '../../src/db/tables.ts'
import { type ConfigField, DESTINATION_TYPES } from '../../src/exporters/destination-types.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { frames, sse } from '../upstream.ts'
import { outOfScope } from './sdk/out-of-scope.ts'
import { functionsOf, recording, unknownIn } from './sdk/recorder.ts'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const USER = 'user_of_the_sdk'
let gateway: Gateway

const COMPLETION = {
  id: 'up-1',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'High.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
}
/** What a provider answers to each other path. */
const answers: Record<string, () => Response> = {
  '/v1/embeddings': () =>
    Response.json({
      data: [{ index: 0, embedding: [0.5, 1] }],
      model: 'm',
      usage: { prompt_tokens: 3, total_tokens: 3 },
    }),
  '/v1/rerank': () =>
    Response.json({ results: [{ index: 0, relevance_score: 0.5 }], usage: { total_tokens: 7 } }),
  '/v1/images/generations': () => Response.json({ created: 1, data: [{ b64_json: PIXEL }] }),
  '/v1/audio/speech': () => new Response('sound', { headers: { 'content-type': 'audio/mpeg' } }),
  '/v1/audio/transcriptions': () => Response.json({ text: 'High.', usage: { type: 'duration', seconds: 2 } }),
}
const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const body = await request.text()
    if (body.includes('lab/broken')) return new Response(null, { status: 500 })
    if (request.url.endsWith('/chat/completions'))
      return body.includes('"stream":true') ? sse(frames(['High.'])) : Response.json(COMPLETION)
    return answers[new URL(request.url).pathname]?.() ?? new Response(null, { status: 404 })
  },
})

const pricing = {
  prompt: '0.000001',
  completion: '0.000002',
  request: '0',
  image: '0.01',
  audio_second: '0.0001',
  input_character: '0.00001',
}
const model = (id: string, input: string, output: string) => ({
  id,
  pricing,
  architecture: { input_modalities: [input], output_modalities: [output] },
})

beforeAll(async () => {
  gateway = await startGateway({
    listens: true,
    providers: [
      {
        slug: 'lab',
        name: 'Lab',
        base_url: `http://127.0.0.1:${upstream.port}/v1`,
        models: [
          {
            id: 'lab/tide',
            pricing,
            architecture: { input_modalities: ['text'], output_modalities: ['text'] },
          },
          { id: 'lab/broken', pricing },
          model('lab/vectors', 'text', 'embeddings'),
          model('lab/judge', 'text', 'rerank'),
          model('lab/paint', 'text', 'image'),
          model('lab/voice', 'text', 'speech'),
          model('lab/ears', 'audio', 'transcription'),
        ],
      },
    ],
  })
  const organization_id = gateway.deps.snapshot.current().organizationId
  await atomically(gateway.database, (tx) => [
    tx
      .insert(users)
      .values({ id: USER, organization_id, name: 'Ada', email: 'ada@sluice.example', role: 'member' }),
  ])
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})

const MESSAGES = [{ role: 'user' as const, content: 'How is the tide?' }]
const random = (): string => crypto.randomUUID()

/** All pages of a list, as the SDK turns them. */
async function pagesOf<Page>(pages: Promise<AsyncIterable<Page>>): Promise<Page[]> {
  const seen: Page[] = []
  for await (const page of await pages) seen.push(known(page))
  return seen
}
/** The same, once it holds no shape that the SDK does not know. */
function known<T>(value: T): T {
  expect(unknownIn(value)).toEqual([])
  return value
}

const SECRET = 'a-secret-of-the-sdk-0123456789'
/** A value that the field of a destination takes. */
function valueFor({ kind, choices, isSecret }: ConfigField): string {
  if (choices !== undefined) return choices[0] ?? ''
  if (kind === 'dsn') return `https://${SECRET}@sentry.example.com/2`
  if (kind === 'url') return 'https://traces.example.com/v1'
  if (kind === 'host') return 'traces.example.com'
  return isSecret === true ? SECRET : 'plain'
}

interface Flow {
  name: string
  key: () => string
  /** Every function that the flow calls, and no other. */
  covers: string
  run(sdk: OpenRouter): Promise<void>
}
const management = () => MANAGEMENT_KEY
const inference = () => API_KEY

const flows: Flow[] = [
  {
    name: 'keys',
    key: management,
    covers: 'apiKeys: create get list update delete getCurrentKeyMetadata',
    async run({ apiKeys }) {
      const expiresAt = new Date(Date.now() + 3_600_000)
      const requestBody = {
        name: 'sdk',
        limit: 2.5,
        limitReset: 'weekly' as const,
        expiresAt,
        includeByokInLimit: true,
      }
      const made = known(await apiKeys.create({ requestBody }))
      expect(made.data).toMatchObject({
        name: 'sdk',
        limit: 2.5,
        limitRemaining: 2.5,
        updatedAt: null,
        expiresAt,
      })
      const { hash } = made.data
      expect(hash).toBe(hashKey(made.key))
      expect(known(await apiKeys.get({ hash })).data).toEqual(made.data)
      expect(known(await apiKeys.list({ includeDisabled: true })).data).toContainEqual(made.data)
      const changed = await apiKeys.update({ hash, requestBody: { disabled: true, limit: null } })
      expect(known(changed).data).toMatchObject({ disabled: true, limit: null, limitRemaining: null })
      expect(known(await apiKeys.list({})).data.map((each) => each.hash)).not.toContain(hash)
      expect(await apiKeys.delete({ hash })).toEqual({ deleted: true })
      await expect(apiKeys.get({ hash })).rejects.toBeInstanceOf(errors.NotFoundResponseError)
      expect(known(await apiKeys.getCurrentKeyMetadata()).data).toMatchObject({ isManagementKey: true })
    },
  },
  {
    name: 'workspaces, members and budgets',
    key: management,
    covers:
      'workspaces: create get list update delete listMembers bulkAddMembers bulkRemoveMembers listBudgets getBudget setBudget deleteBudget',
    async run({ workspaces }) {
      const made = known(
        await workspaces.create({
          createWorkspaceRequest: {
            name: 'Tides',
            slug: 'sdk-tides',
            description: 'All',
            ioLoggingSamplingRate: 0.5,
          },
        }),
      )
      const { id } = made.data
      expect(known(await workspaces.get({ id: 'sdk-tides' })).data).toEqual(made.data)
      const pages = await pagesOf(workspaces.list({ limit: 1 }))
      expect(pages.flatMap(({ result }) => result.data.map((each) => each.id))).toContain(id)
      const updated = await workspaces.update({
        id,
        updateWorkspaceRequest: { name: 'Ebb', description: null },
      })
      expect(known(updated).data).toMatchObject({ name: 'Ebb', description: null })
      const userIds = [USER]
      const added = await workspaces.bulkAddMembers({ id, bulkAddWorkspaceMembersRequest: { userIds } })
      expect(known(added)).toMatchObject({ addedCount: 1, data: [{ userId: USER, role: 'member' }] })
      const [members] = await pagesOf(workspaces.listMembers({ id }))
      expect(members?.result.totalCount).toBe(2)
      expect(
        await workspaces.bulkRemoveMembers({ id, bulkRemoveWorkspaceMembersRequest: { userIds } }),
      ).toEqual({
        removedCount: 1,
      })
      for (const [interval, limitUsd] of [
        ['daily', 1],
        ['lifetime', 9],
      ] as const) {
        const set = await workspaces.setBudget({
          workspaceRef: id,
          interval,
          upsertWorkspaceBudgetRequest: { limitUsd },
        })
        expect(known(set).data).toMatchObject({
          limitUsd,
          resetInterval: interval === 'daily' ? 'daily' : null,
        })
      }
      expect(known(await workspaces.getBudget({ workspaceRef: id, interval: 'daily' })).data.limitUsd).toBe(1)
      expect(known(await workspaces.listBudgets({ workspaceRef: 'sdk-tides' })).data).toHaveLength(2)
      expect(await workspaces.deleteBudget({ workspaceRef: id, interval: 'daily' })).toEqual({
        deleted: true,
      })
      expect(await workspaces.deleteBudget({ workspaceRef: id, interval: 'daily' })).toEqual({
        deleted: true,
      })
      expect(await workspaces.delete({ id })).toEqual({ deleted: true })
      await expect(workspaces.get({ id })).rejects.toBeInstanceOf(errors.NotFoundResponseError)
    },
  },
  {
    name: 'guardrails and their assignments',
    key: management,
    covers:
      'guardrails: create get list update delete bulkAssignKeys bulkUnassignKeys bulkAssignMembers bulkUnassignMembers listGuardrailKeyAssignments listGuardrailMemberAssignments listKeyAssignments listMemberAssignments',
    async run({ guardrails }) {
      const made = known(
        await guardrails.create({
          createGuardrailRequest: {
            name: 'Careful',
            allowedModels: ['lab/tide'],
            limitUsd: 5,
            resetInterval: 'monthly',
            enforceZdr: true,
            contentFilterBuiltins: [{ slug: 'email', action: 'redact' }],
            contentFilters: [{ pattern: 'secret-\\d+', action: 'block', label: 'Ours' }],
          },
        }),
      )
      const { id } = made.data
      expect(made.data).toMatchObject({ enforceZdrOpenai: true, contentFilters: [{ label: 'Ours' }] })
      expect(known(await guardrails.get({ id })).data).toEqual(made.data)
      // Fields of ours do not keep the client from reading one.
      const content_filters = [{ pattern: 'secret-\\d+', action: 'block', label: 'Ours', apply_to: 'both' }]
      expect((await gateway.manage('PATCH', `/guardrails/${id}`, { content_filters })).status).toBe(200)
      expect(known(await guardrails.get({ id })).data).toMatchObject({ contentFilters: [{ label: 'Ours' }] })
      await gateway.manage('PATCH', `/guardrails/${id}`, { content_filters: [made.data.contentFilters?.[0]] })
      const pages = await pagesOf(guardrails.list({ limit: 1 }))
      expect(pages.flatMap(({ result }) => result.data).map((each) => each.id)).toContain(made.data.id)
      const changed = await guardrails.update({
        id,
        updateGuardrailRequest: { description: 'Very', allowedModels: null },
      })
      expect(known(changed).data).toMatchObject({ description: 'Very', allowedModels: null })
      const keyHashes = [hashKey(API_KEY)]
      expect(await guardrails.bulkAssignKeys({ id, bulkAssignKeysRequest: { keyHashes } })).toEqual({
        assignedCount: 1,
      })
      const [keys] = await pagesOf(guardrails.listGuardrailKeyAssignments({ id }))
      expect(keys?.result.data).toMatchObject([{ keyHash: keyHashes[0], guardrailId: id }])
      expect((await pagesOf(guardrails.listKeyAssignments({})))[0]?.result).toEqual(keys?.result ?? Object())
      expect(await guardrails.bulkUnassignKeys({ id, bulkUnassignKeysRequest: { keyHashes } })).toEqual({
        unassignedCount: 1,
      })
      const memberUserIds = [USER]
      await guardrails.bulkAssignMembers({ id, bulkAssignMembersRequest: { memberUserIds } })
      const [members] = await pagesOf(guardrails.listGuardrailMemberAssignments({ id }))
      expect(members?.result.data).toMatchObject([{ userId: USER, guardrailId: id }])
      expect((await pagesOf(guardrails.listMemberAssignments({})))[0]?.result.totalCount).toBe(1)
      await guardrails.bulkUnassignMembers({ id, bulkUnassignMembersRequest: { memberUserIds } })
      expect(await guardrails.delete({ id })).toEqual({ deleted: true })
      await expect(guardrails.get({ id })).rejects.toBeInstanceOf(errors.NotFoundResponseError)
    },
  },
  {
    name: 'presets',
    key: management,
    covers:
      'presets: list get getVersion listVersions createPresetsChatCompletions createPresetsMessages createPresetsResponses',
    async run({ presets }) {
      const slug = 'sdk-calm'
      const first = await presets.createPresetsChatCompletions({
        slug,
        chatRequest: {
          model: 'lab/tide',
          temperature: 0.1,
          messages: [{ role: 'system', content: 'Be calm.' }, ...MESSAGES],
        },
      })
      expect(known(first).data.designatedVersion).toMatchObject({ version: 1, systemPrompt: 'Be calm.' })
      await presets.createPresetsResponses({
        slug,
        responsesRequest: { model: 'lab/tide', input: 'x', temperature: 0.2 },
      })
      const third = await presets.createPresetsMessages({
        slug,
        messagesRequest: { model: 'lab/tide', maxTokens: 50, messages: MESSAGES, temperature: 0.3 },
      })
      expect(known(third).data.designatedVersion?.version).toBe(3)
      expect(known(await presets.get({ slug })).data).toEqual(third.data)
      const [versions] = await pagesOf(presets.listVersions({ slug }))
      expect(versions?.result.data.map((each) => each?.version)).toEqual([3, 2, 1])
      expect(known(await presets.getVersion({ slug, version: '2' })).data?.config).toMatchObject({
        temperature: 0.2,
      })
      const [list] = await pagesOf(presets.list({}))
      expect(list?.result.data.map((each) => each.slug)).toContain(slug)
    },
  },
  {
    name: 'files',
    key: inference,
    covers: 'files: list upload retrieve download delete',
    async run({ files }) {
      const content = 'Tides are slow.'
      const file = { fileName: 'tides.txt', content: new Blob([content]) }
      const made = known(await files.upload({ requestBody: { file } }))
      if (made.shape !== 'openrouter') throw new Error('another shape came')
      expect(made).toMatchObject({ filename: 'tides.txt', sizeBytes: content.length, type: 'file' })
      expect(known(await files.retrieve({ fileId: made.id }))).toEqual(made)
      expect(await new Response(await files.download({ fileId: made.id })).text()).toBe(content)
      await files.upload({ requestBody: { file } })
      expect(await pagesOf(files.list({ limit: 1 }))).toHaveLength(2)
      expect(known(await files.delete({ fileId: made.id }))).toMatchObject({
        id: made.id,
        type: 'file_deleted',
      })
      await expect(files.retrieve({ fileId: made.id })).rejects.toBeInstanceOf(errors.NotFoundResponseError)
    },
  },
  {
    name: "workspaces' own provider keys",
    key: management,
    covers: 'byok: create get list update delete',
    async run({ byok }) {
      const createBYOKKeyRequest = {
        provider: 'openai' as const,
        key: 'sk-of-the-sdk-0123456789',
        name: 'Ours',
        isFallback: true,
      }
      const made = known(await byok.create({ createBYOKKeyRequest }))
      const { id } = made.data
      expect(made.data).toMatchObject({ name: 'Ours', isFallback: true, provider: 'openai' })
      expect(JSON.stringify(made)).not.toContain(createBYOKKeyRequest.key)
      expect(known(await byok.get({ id })).data).toEqual(made.data)
      expect((await pagesOf(byok.list({ limit: 1 }))).flatMap(({ result }) => result.data)).toContainEqual(
        made.data,
      )
      const changed = await byok.update({
        id,
        updateBYOKKeyRequest: { disabled: true, allowedModels: ['lab/tide'] },
      })
      expect(known(changed).data).toMatchObject({ disabled: true, allowedModels: ['lab/tide'] })
      expect(await byok.delete({ id })).toEqual({ deleted: true })
      await expect(byok.get({ id })).rejects.toBeInstanceOf(errors.NotFoundResponseError)
    },
  },
  {
    name: 'destinations of every type',
    key: management,
    covers: 'observability: create get list update delete',
    async run({ observability }) {
      const all: string[] = []
      for (const type of Object.values(CreateObservabilityDestinationRequestType)) {
        const fields = DESTINATION_TYPES[type]
        const config = Object.fromEntries(fields.map((field) => [field.name, valueFor(field)]))
        const filterRules = {
          enabled: true,
          groups: [
            {
              logic: 'or' as const,
              rules: [{ field: 'model' as const, operator: 'equals' as const, value: 'a/b' }],
            },
          ],
        }
        const createObservabilityDestinationRequest = {
          name: `to ${type}`,
          type,
          config,
          filterRules,
          samplingRate: 0.5,
        }
        const { data: made } = known(await observability.create({ createObservabilityDestinationRequest }))
        if (!('id' in made)) throw new Error('an unknown shape came')
        const { id } = made
        all.push(id)
        expect(made).toMatchObject({ type, samplingRate: 0.5, enabled: true, regions: ['global'] })
        expect(JSON.stringify(made)).not.toContain(SECRET)
        expect(known(await observability.get({ id })).data).toEqual(made)
        const changed = await observability.update({
          id,
          updateObservabilityDestinationRequest: {
            enabled: false,
            config: made.config,
            filterRules: null,
          },
        })
        expect(known(changed).data).toMatchObject({
          enabled: false,
          config: made.config,
          filterRules: null,
        })
      }
      const pages = await pagesOf(observability.list({ limit: 5 }))
      expect(pages.flatMap(({ result }) => result.data.map((each) => 'id' in each && each.id))).toEqual(all)
      for (const id of all) expect(await observability.delete({ id })).toEqual({ deleted: true })
      await expect(observability.get({ id: all[0] ?? '' })).rejects.toBeInstanceOf(
        errors.NotFoundResponseError,
      )
    },
  },
  {
    name: 'people',
    key: management,
    covers: 'organization: listMembers',
    async run({ organization }) {
      const people = (await pagesOf(organization.listMembers({ limit: 1 }))).flatMap(
        ({ result }) => result.data,
      )
      expect(people.length).toBeGreaterThanOrEqual(2)
      expect(people).toContainEqual(
        expect.objectContaining({ id: USER, email: 'ada@sluice.example', role: 'org:member' }),
      )
    },
  },
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
    name: 'inference, and what is known of it afterwards',
    key: inference,
    covers:
      'chat: send; responses: send; beta.responses: send; embeddings: generate; rerank: rerank; images: generate; tts: createSpeech; stt: createTranscription createTranscriptionMultipart; generations: getGeneration listGenerationContent submitFeedback; : callModel',
    async run(sdk) {
      const { chat, responses, beta, embeddings, rerank, images, tts, stt, generations } = sdk
      const said = known(
        await chat.send({ chatRequest: { model: 'lab/tide', messages: MESSAGES, stream: false } }),
      )
      if (!('id' in said)) throw new Error('a stream came')
      expect(said).toMatchObject({ choices: [{ message: { content: 'High.' } }] })
      const { data } = known(await generations.getGeneration({ id: said.id }))
      expect(data).toMatchObject({
        id: said.id,
        model: 'lab/tide',
        providerName: 'Lab',
        apiType: 'completions',
      })
      // A workspace that does not log: the SDK is told so with an error of its own.
      const content = (id: string) => generations.listGenerationContent({ id })
      await expect(content(said.id)).rejects.toBeInstanceOf(errors.NotFoundResponseError)
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
        generationId: said.id,
        category: 'latency' as const,
        comment: 'Slow.',
      }
      const thanks = await generations.submitFeedback({ submitGenerationFeedbackRequest })
      expect(known(thanks).data).toEqual({ success: true })
      for (const room of [responses, beta.responses]) {
        const told = await room.send({
          responsesRequest: { model: 'lab/tide', input: 'Tide?', stream: false },
        })
        expect(known(told)).toMatchObject({ status: 'completed', outputText: 'High.' })
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
    name: 'what was spent',
    key: management,
    covers: 'credits: getCredits; analytics: getUserActivity getAnalyticsMeta queryAnalytics',
    async run({ credits, analytics }) {
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

const coveredBy = ({ covers }: Flow): string[] =>
  covers.split('; ').flatMap((room) => {
    const [name, functions = ''] = room.split(': ')
    return functions.split(' ').map((each) => (name === '' ? each : `${name}.${each}`))
  })

describe('a flow through', () => {
  for (const flow of flows) {
    test(flow.name, async () => {
      const { sdk, called } = recording(gateway.url, flow.key())
      await flow.run(sdk)
      expect([...called].toSorted()).toEqual(coveredBy(flow).toSorted())
    })
  }
})

test('what the SDK has no field for does not get in its way', async () => {
  const { sdk } = recording(gateway.url, MANAGEMENT_KEY)
  const rate_limits = { requests_per_minute: 5, models: [{ model: 'lab/tide', tokens_per_minute: 9 }] }
  const { hash } = await gateway.makeKey({ rate_limits })
  const made = async (path: string, body: object): Promise<string> => {
    const { data } = await (await gateway.manage('POST', path, { ...body, rate_limits })).json()
    return data.id
  }
  const workspace = await made('/workspaces', { name: 'Rates', slug: 'sdk-rates' })
  const guardrail = await made('/guardrails', { name: 'Rates' })
  expect(known(await sdk.apiKeys.get({ hash })).data.hash).toBe(hash)
  expect(known(await sdk.workspaces.get({ id: workspace })).data.slug).toBe('sdk-rates')
  expect(known(await sdk.guardrails.get({ id: guardrail })).data.name).toBe('Rates')
})

test('refusals are errors of their own kind, with our sentence', async () => {
  const slow = (await gateway.makeKey({ rate_limits: { tokens_per_minute: 1 } })).key
  const sdkWith = (key: string) => recording(gateway.url, key).sdk
  const admin = sdkWith(MANAGEMENT_KEY)
  const rows: [call: () => Promise<unknown>, kind: typeof errors.BadRequestResponseError, says: string][] = [
    [() => sdkWith('x'.repeat(40)).apiKeys.list({}), errors.UnauthorizedResponseError, 'Invalid API key'],
    [
      () => sdkWith(API_KEY).apiKeys.create({ requestBody: { name: 'a' } }),
      errors.ForbiddenResponseError,
      'Only management keys',
    ],
    [() => admin.guardrails.get({ id: random() }), errors.NotFoundResponseError, 'no guardrail'],
    [
      () => admin.apiKeys.create({ requestBody: { name: '' } }),
      errors.BadRequestResponseError,
      'name: must be',
    ],
    [
      () => admin.workspaces.create({ createWorkspaceRequest: { name: 'a', slug: 'Not a slug' } }),
      errors.BadRequestResponseError,
      'slug: must be',
    ],
    [
      () => sdkWith(API_KEY).chat.send({ chatRequest: { model: 'lab/none', messages: MESSAGES } }),
      errors.NotFoundResponseError,
      'lab/none',
    ],
    [
      () => sdkWith(slow).chat.send({ chatRequest: { model: 'lab/tide', messages: MESSAGES } }),
      errors.TooManyRequestsResponseError,
      'may use 1 token a minute',
    ],
    [
      () => sdkWith(slow).beta.responses.send({ responsesRequest: { model: 'lab/tide', input: 'Hi' } }),
      errors.TooManyRequestsResponseError,
      'may use 1 token a minute',
    ],
    [
      () => sdkWith(slow).embeddings.generate({ requestBody: { model: 'lab/vectors', input: 'Hi there' } }),
      errors.TooManyRequestsResponseError,
      'may use 1 token a minute',
    ],
  ]
  for (const [call, kind, says] of rows) {
    const refusal = await call().then(
      () => null,
      (error: unknown) => error,
    )
    expect(refusal).toBeInstanceOf(kind)
    expect(String(refusal)).toContain(says)
  }
})

test('every function of the SDK is covered, or is out of scope for a reason', () => {
  const covered = new Set(flows.flatMap(coveredBy))
  const reasonOf = (name: string): string | undefined =>
    outOfScope.find(([start]) => name === start || name.startsWith(`${start}.`))?.[1]
  const all = functionsOf()
  const lines = all.map(
    (name) =>
      `${covered.has(name) ? 'covered    ' : 'not covered'} ${name}${covered.has(name) ? '' : `: ${reasonOf(name)}`}`,
  )
  console.log(`@openrouter/sdk: ${covered.size} of ${all.length} functions covered\n${lines.join('\n')}`)
  expect(all.filter((name) => !covered.has(name) && reasonOf(name) === undefined)).toEqual([])
  expect([...covered].filter((name) => !all.includes(name) || reasonOf(name) !== undefined)).toEqual([])
})
