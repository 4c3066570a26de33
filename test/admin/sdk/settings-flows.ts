/** Presets, BYOK keys, destinations and people. */
import { expect } from 'bun:test'
import { CreateObservabilityDestinationRequestType } from '@openrouter/sdk/models'
import * as errors from '@openrouter/sdk/models/errors'
import { type ConfigField, DESTINATION_TYPES } from '../../../src/exporters/destination-types.ts'
import { type Flow, inference, known, MESSAGES, management, pagesOf, USER } from './flow.ts'

const SECRET = 'a-secret-of-the-sdk-0123456789'
/** A value that the field of a destination takes. */
function valueFor({ kind, choices, isSecret }: ConfigField): string {
  if (choices !== undefined) return choices[0] ?? ''
  if (kind === 'dsn') return `https://${SECRET}@sentry.example.com/2`
  if (kind === 'url') return 'https://traces.example.com/v1'
  if (kind === 'host') return 'traces.example.com'
  return isSecret === true ? SECRET : 'plain'
}

export const settingsFlows: Flow[] = [
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
        if (!('id' in made)) throw new Error('the SDK does not know the shape of the reply')
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
]
