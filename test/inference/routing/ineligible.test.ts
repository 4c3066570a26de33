import { expect, test } from 'bun:test'
import { GatewayError } from '../../../src/core/errors.ts'
import type { ProviderPreferences } from '../../../src/core/request.ts'
import { parseChat } from '../../../src/dialects/chat/parse.ts'
import { estimatePrompt } from '../../../src/inference/admission/estimate.ts'
import { needsOf } from '../../../src/inference/routing/needs.ts'
import { plan } from '../../../src/inference/routing/plan.ts'
import { unknownProviders } from '../../../src/inference/routing/provider-names.ts'
import { caller, directory, endpoint, model, pricing, provider, request, snapshot } from '../fixture.ts'

const world = snapshot(
  [provider('cheap'), provider('dear'), provider('sharp')],
  directory([
    model('lab/tiny', [
      endpoint('cheap', 'lab/tiny', { contextLength: 50 }),
      endpoint('dear', 'lab/tiny', { contextLength: 90, pricing: pricing('0.0001', '0.0001') }),
    ]),
    model('lab/vision', [endpoint('sharp', 'lab/vision', { inputModalities: ['text', 'image'] })]),
  ]),
)

const IMAGE = { type: 'image' as const, url: 'https://example.org/cat.png' }
const LONG = 'word '.repeat(3_000)

function refused(
  content: string | (typeof IMAGE)[],
  preferences: Partial<ProviderPreferences> = {},
): GatewayError {
  const one = request({ messages: [{ role: 'user', content }] }, preferences)
  try {
    plan({
      request: one,
      needs: needsOf(one, estimatePrompt(one)),
      caller: caller(),
      snapshot: world,
      now: 1_000_000,
      cooldownOf: () => null,
      random: () => 0.5,
    })
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('the plan was expected to be refused')
}

test('a need that no endpoint has: the error names it, an endpoint without it, and the nearest model that has it', () => {
  const { status, message, availability } = refused([IMAGE])
  expect(status).toBe(404)
  expect(message).toBe(
    'No endpoint of "lab/tiny" takes images: cheap serves lab/tiny for text and not for images. The nearest model here that takes images is lab/vision',
  )
  expect(availability).toEqual({
    code: 'constraint_filtered',
    retryable: false,
    requested_models: ['lab/tiny'],
    affected_providers: ['cheap', 'dear'],
    excluded_by: ['input_modalities'],
    fallback_models: ['lab/vision'],
    constraint: { field: 'input_modalities', detail: 'cheap serves lab/tiny for text and not for images' },
    docs_url: '/docs/routing',
  })
})

test('a prompt that is too long: the type and the words by which clients compact a conversation', () => {
  const { status, message, metadata, availability } = refused(LONG)
  expect(status).toBe(400)
  expect(metadata?.error_type).toBe('context_length_exceeded')
  expect(message).toContain(
    'The prompt is too long for lab/tiny at cheap: its maximum context length is 50 tokens',
  )
  expect(message).toContain('1,875 to 5,007 (an estimate)')
  expect(availability?.excluded_by).toEqual(['context_length'])
})

test('preferences that exclude everything: every rule with its share, whichever rule is checked first', () => {
  const { status, message, metadata, availability } = refused('Hello', {
    ignore: ['dear'],
    maxPrice: { prompt: '0.1' },
    quantizations: ['fp8'],
  })
  expect(status).toBe(404)
  expect(message).toContain('quantization leaves out 2 of 2 endpoints (')
  expect(message).toContain('allowed_providers leaves out 1 of 2 endpoints ("provider.ignore" lists dear)')
  expect(metadata?.['constraints']).toEqual([
    { rule: 'quantization', endpoints: 2, of: 2, reason: expect.stringContaining('not known') },
    { rule: 'max_price', endpoints: 2, of: 2, reason: expect.stringContaining('cheap costs more') },
    { rule: 'allowed_providers', endpoints: 1, of: 2, reason: '"provider.ignore" lists dear' },
  ])
  expect(availability?.excluded_by).toEqual(['quantization', 'max_price', 'allowed_providers'])
})

test('a need and a preference: both are named', () => {
  const { message } = refused([IMAGE], { only: ['dear'] })
  expect(message).toContain('No endpoint of "lab/tiny" takes images')
  expect(message).toContain('allowed_providers leaves out 1 of 2 endpoints')
})

test('a provider that is not configured is named with its nearest neighbours', () => {
  expect(refused('Hello', { only: ['cheep'] }).message).toEndWith(
    '"provider.only" names "cheep", which is not configured here: the nearest names are cheap',
  )
})

test('the routing metadata has unknown names, and the provider of an endpoint tag is known', () => {
  const one = request({}, { order: ['cheap/fp8', 'nowhere'], ignore: ['sharp', 'sharpe'] })
  const planning = { request: one, caller: caller(), snapshot: world, now: 0, cooldownOf: () => null }
  expect(unknownProviders({ ...planning, random: () => 0 })).toEqual([
    { field: 'order', name: 'nowhere', nearest: [] },
    { field: 'ignore', name: 'sharpe', nearest: ['sharp'] },
  ])
})

test('an unknown model: the object names the nearest', () => {
  const one = request({ models: ['lab/tinny'] })
  const run = () =>
    plan({ request: one, caller: caller(), snapshot: world, now: 0, cooldownOf: () => null, random: () => 0 })
  expect(run).toThrow(
    expect.objectContaining({
      status: 404,
      availability: expect.objectContaining({ code: 'model_not_found', requested_models: ['lab/tinny'] }),
    }),
  )
})

test.each([
  [{ only: ['a', 'b'], ignore: ['B'] }, 'provider.only: names "b", and "provider.ignore" ignores it'],
  [{ order: ['a/fp8'], ignore: ['a'] }, 'provider.order: names "a/fp8", and "provider.ignore" ignores it'],
])('a contradiction is a 400 that names both: %j', (preferences, sentence) => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hello' }], provider: preferences }
  expect(() => parseChat(body, new Headers())).toThrow(sentence)
})

test('a tag in ignore does not contradict its provider in only', () => {
  const body = {
    model: 'm',
    messages: [{ role: 'user', content: 'Hello' }],
    provider: { only: ['a'], ignore: ['a/fp8'] },
  }
  expect(parseChat(body, new Headers()).preferences).toMatchObject({ only: ['a'], ignore: ['a/fp8'] })
})
