import { describe, expect, test } from 'bun:test'
import { fieldsOf, objectsIn } from '../../src/core/json.ts'
import { posthog } from '../../src/exporters/kinds/posthog.ts'
import { differencesOf, recordedCalls } from './comparison.ts'
import { contextFor, fullRecord } from './records.ts'

const context = contextFor({ apiKey: 'phc_key', endpoint: 'https://eu.i.posthog.com/' })

async function sent(...records: Parameters<typeof posthog.batchOf>[0]) {
  const [call, ...more] = await posthog.batchOf(records, context)
  if (call === undefined || more.length > 0) throw new Error('not one call')
  return { call, body: fieldsOf(JSON.parse(String(call.body))) }
}

async function propertiesOf(changes: Parameters<typeof fullRecord>[0]) {
  const { body } = await sent(fullRecord(changes))
  return fieldsOf(objectsIn(body['batch'])[0]?.['properties'])
}

/** What the client of the vendor sends and we do not, and the other way round. */
const MEANT = {
  'other: batch.0.uuid': 'ours derives from the generation, so that a repeat counts once',
  'other: batch.0.timestamp': 'the end of the generation, not the time of the call',
  'other: sent_at': 'the time of the call',
  'other: batch.0.properties.$ai_lib': 'the name of who measured',
  'other: batch.0.properties.$lib': 'the same',
  'missing: batch.0.properties.$ai_lib_version': 'the version of their library',
  'missing: batch.0.properties.$lib_version': 'the same',
  'missing: batch.0.properties.$ai_base_url': 'empty without a URL; the provider is named by its slug',
  'missing: batch.0.properties.$ai_tokens_source': 'says whether properties replaced the counts: never here',
  'extra: batch.0.properties.$ai_span_id': 'the generation as a node of its trace',
  'extra: batch.0.properties.$ai_parent_id': 'the same',
  'extra: batch.0.properties.$ai_span_name': 'the caller names generations',
  'extra: batch.0.properties.$ai_stream': 'documented for manual capture',
  'extra: batch.0.properties.$ai_is_error': 'the same: false too, so that it can be filtered',
  'extra: batch.0.properties.$ai_output_choices.0.reasoning':
    'their wrappers put it into the content of the choice',
  'other: batch.0.properties.$ai_input.1.content':
    'one text is a text: conversations of all dialects look alike',
  'extra: batch.0.properties.release': 'keys of `trace` are properties',
  'extra: batch.0.properties.retries': 'the same',
  'extra: batch.0.properties.nested': 'the same',
  'extra: batch.0.properties.trace_name': 'the same',
  'extra: batch.0.properties.generation_id': 'to find it in the ledger',
  'extra: batch.0.properties.workspace': 'whose generation it is',
  'extra: batch.0.properties.api_key_name': 'the same',
  'extra: batch.0.properties.outcome': 'whether the answer is complete',
}

describe('events for PostHog', () => {
  test('are those of its own client, but for what is meant', async () => {
    const { call, body } = await sent(fullRecord())
    const [recorded] = recordedCalls('posthog')
    expect(new URL(call.url).pathname).toBe(recorded?.path ?? '')
    expect(call.headers).toEqual({ 'content-type': 'application/json' })
    expect(call.gzip).toBe(recorded?.headers['content-encoding'] === 'gzip')
    expect(differencesOf(recorded?.body, body).sort()).toEqual(Object.keys(MEANT).sort())
  })

  test('have the same uuid in a repeat, and another one for another generation', async () => {
    const uuids = async (id: string) => {
      const { body } = await sent(fullRecord({ id }))
      return objectsIn(body['batch']).map(({ uuid }) => uuid)
    }
    const [first] = await uuids('gen-1')
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(await uuids('gen-1')).toEqual([first])
    expect(await uuids('gen-2')).not.toEqual([first])
  })

  test('show the calls of an answer', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } }
    const completion = JSON.stringify({ content: null, tool_calls: [call] })
    const content = { input: { prompt: 'Hi' }, output: { completion, reasoning: null }, tools: null }
    expect(await propertiesOf({ content })).toMatchObject({
      $ai_input: [{ role: 'user', content: 'Hi' }],
      $ai_output_choices: [{ role: 'assistant', content: null, tool_calls: [call] }],
    })
  })

  test('make no person without a user', async () => {
    const { body } = await sent(fullRecord({ identity: null }))
    const [event] = objectsIn(body['batch'])
    expect(event).toMatchObject({
      distinct_id: fullRecord().trace.traceId,
      properties: { $process_person_profile: false },
    })
    expect(await propertiesOf({})).not.toHaveProperty('$process_person_profile')
  })

  test('have nothing that was withheld', async () => {
    const withheld = { content: null, contentMissing: 'privacy', cost: null } as const
    const properties = await propertiesOf(withheld)
    for (const name of ['$ai_input', '$ai_output_choices', '$ai_tools', '$ai_total_cost_usd']) {
      expect(properties).not.toHaveProperty(name)
    }
    expect(properties).toMatchObject({ content_missing: 'privacy', $ai_input_tokens: 120 })
  })

  test('do not let a caller change persons', async () => {
    const properties = await propertiesOf({ metadata: { $set: 'x', $ai_model: 'y', plan: 'z' } })
    expect(properties).toMatchObject({
      metadata_$set: 'x',
      $ai_model: 'openai/gpt-4.1-mini',
      plan: 'z',
    })
    expect(properties).not.toHaveProperty('$set')
  })

  test('of a failure and of a step', async () => {
    const error = { type: 'timeout', status: 504, message: 'No reply.' }
    const failed = await propertiesOf({ error, truth: 'failed', parent: { id: 'gen-0', kind: 'tool' } })
    expect(failed).toMatchObject({ $ai_is_error: true, $ai_http_status: 504, $ai_error: 'No reply.' })
    expect(failed['$ai_parent_id']).toMatch(/^[0-9a-f]{16}$/)
    expect(await propertiesOf({ error: { ...error, message: null } })).toMatchObject({ $ai_error: 'timeout' })
  })
})

describe('a reply of PostHog', () => {
  const meaningOf = (status: number, body = '') =>
    posthog.meaningOf?.({ status, headers: new Headers(), body: new TextEncoder().encode(body) }, context)

  test.each([
    [200, '{"status":"Ok"}', 'accepted'],
    [200, '{"status":1,"quota_limited":["recordings"]}', 'accepted'],
    [200, '{"status":1,"quota_limited":["events"]}', 'retry'],
    [400, '{"type":"validation_error","detail":"canary"}', 'refused'],
    [401, 'canary', 'unauthorized'],
    [413, 'canary', 'too-large'],
    [429, 'canary', 'retry'],
    [503, 'canary', 'retry'],
  ])('of %i with %s is %s', (status, body, outcome) => {
    const meaning = meaningOf(status, body)
    expect(meaning).toMatchObject({ outcome })
    expect(JSON.stringify(meaning)).not.toContain('canary')
  })
})
