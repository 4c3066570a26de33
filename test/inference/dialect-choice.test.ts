import { expect, test } from 'bun:test'
import type { DialectName } from '../../src/core/events.ts'
import type { EndpointRecord, ProviderRecord } from '../../src/core/snapshot.ts'
import { plan } from '../../src/inference/plan.ts'
import { caller, directory, endpoint, model, provider, request, snapshot } from './fixture.ts'

type Row = [
  what: string,
  provider: Partial<ProviderRecord>,
  endpoint: Partial<EndpointRecord>,
  caller: DialectName,
  spoken: DialectName,
]

const rows: Row[] = [
  ["the provider's own", {}, {}, 'chat', 'chat'],
  ['its own, where the caller speaks another', {}, {}, 'messages', 'chat'],
  [
    "the caller's, where the provider takes it too",
    { alsoSpeaks: ['responses'] },
    {},
    'responses',
    'responses',
  ],
  ['its first, where it takes others than the caller', { alsoSpeaks: ['responses'] }, {}, 'messages', 'chat'],
  ["the model's own, whatever the provider takes", {}, { dialects: ['responses'] }, 'chat', 'responses'],
  ["the caller's among the model's", {}, { dialects: ['messages', 'chat'] }, 'chat', 'chat'],
]

test.each(rows)('an endpoint is spoken to in %s', (_, ofProvider, ofEndpoint, dialect, spoken) => {
  const endpoints = [endpoint('lab', 'lab/tiny', ofEndpoint)]
  const { attempts } = plan({
    request: request({ dialect }),
    caller: caller(),
    snapshot: snapshot([provider('lab', ofProvider)], directory([model('lab/tiny', endpoints)])),
    now: 0,
    blockOf: () => null,
    latencyMs: () => null,
    random: () => 0.5,
  })
  expect(attempts.map((attempt) => attempt.dialect)).toEqual([spoken])
})

const able: [
  what: string,
  dialects: [DialectName, ...DialectName[]],
  able: DialectName[],
  spoken: DialectName | null,
][] = [
  ['the first, not the one that looks like the caller', ['gemini', 'chat'], ['gemini', 'chat'], 'gemini'],
  ['the first that can', ['messages', 'chat'], ['chat', 'gemini'], 'chat'],
  ['none', ['messages'], ['chat'], null],
]
test.each(able)('what is no conversation is asked for in %s', (_, dialects, those, spoken) => {
  const endpoints = [endpoint('lab', 'lab/vec', { dialects, outputModalities: ['embeddings'] })]
  const planned = () =>
    plan({
      request: request({ apiType: 'embeddings', models: ['lab/vec'] }),
      caller: caller(),
      snapshot: snapshot([provider('lab')], directory([model('lab/vec', endpoints)])),
      now: 0,
      blockOf: () => null,
      latencyMs: () => null,
      refusal: (dialect) => (those.includes(dialect) ? null : 'cannot do that'),
      random: () => 0.5,
    })
  if (spoken === null) expect(planned).toThrow('LAB cannot do that')
  else expect(planned().attempts.map(({ dialect }) => dialect)).toEqual([spoken])
})
