import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { FilterRules } from '../../src/db/filter-rules.ts'
import { objectOf } from '../../src/http/json.ts'
import { unary } from '../upstream.ts'
import { chatBody, startForExport } from './export-setup.ts'

const { gateway, upstream, makeDestination, entries, readRecords } = await startForExport()
upstream.on('lab-tiny', unary('a green answer'))
const DESTINATIONS = '/observability/destinations'

type Rule = FilterRules['groups'][number]['rules'][number]
const only = (...rules: Rule[]): FilterRules => ({ groups: [{ rules }] })

describe('rules on a generation', () => {
  let destination: string
  beforeAll(async () => {
    destination = await makeDestination()
    const { key } = await gateway.makeKey({ name: 'the red team' })
    const messages = [
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: [{ type: 'text', text: 'Which colour?' }] },
    ]
    const body = chatBody({ messages, session_id: 's-1', provider: { only: ['lab'] } })
    await (await gateway.call('/chat/completions', body, { authorization: `Bearer ${key}` })).text()
    await gateway.deps.exportContents.close()
  })
  afterAll(() => gateway.manage('DELETE', `${DESTINATIONS}/${destination}`))

  const isTaken = async (filterRules: FilterRules, more: object = {}): Promise<boolean> =>
    (await readRecords(entries(), { filterRules, ...more })).some((outcome) => outcome !== null)

  test.each([
    [{ field: 'model', operator: 'equals', value: 'lab/tiny' }, true],
    [{ field: 'model', operator: 'starts_with', value: 'tiny' }, false],
    [{ field: 'provider', operator: 'equals', value: 'lab' }, true],
    [{ field: 'api_key_name', operator: 'contains', value: 'red' }, true],
    [{ field: 'session_id', operator: 'exists' }, true],
    [{ field: 'user_id', operator: 'exists' }, false],
    [{ field: 'user_id', operator: 'not_equals', value: 'ada' }, true],
    [{ field: 'finish_reason', operator: 'equals', value: 'stop' }, true],
    [{ field: 'total_tokens', operator: 'gte', value: 15 }, true],
    [{ field: 'prompt_tokens', operator: 'gt', value: 10 }, false],
    [{ field: 'completion_tokens', operator: 'lt', value: 6 }, true],
    [{ field: 'total_cost', operator: 'equals', value: 0.00002 }, true],
    [{ field: 'input', operator: 'contains', value: 'Which colour?' }, true],
    [{ field: 'input', operator: 'contains', value: 'user' }, false],
    [{ field: 'input', operator: 'regex', value: '(?i)be BRIEF' }, true],
    [{ field: 'output', operator: 'contains', value: 'green' }, true],
    [{ field: 'output', operator: 'not_contains', value: 'green' }, false],
  ] satisfies [Rule, boolean][])('%j: %p', async (rule, expected) => {
    expect(await isTaken(only(rule))).toBe(expected)
  })

  test('are tested on what the destination is not sent', async () => {
    const cost = only({ field: 'total_cost', operator: 'gt', value: 1 })
    expect(await isTaken(cost, { cost: false })).toBe(false)
    const name = only({ field: 'api_key_name', operator: 'equals', value: 'the red team' })
    expect(await isTaken(name, { identity: false })).toBe(true)
  })

  test('on content that is not there do not hold, unless they are negated', async () => {
    gateway.bodies.file.run('UPDATE export_contents SET sealed = NULL')
    expect(await isTaken(only({ field: 'input', operator: 'contains', value: 'colour' }))).toBe(false)
    expect(await isTaken(only({ field: 'input', operator: 'not_contains', value: 'colour' }))).toBe(true)
    expect(await isTaken(only({ field: 'output', operator: 'not_exists' }))).toBe(true)
    const rules = only({ field: 'input', operator: 'regex', value: '.' })
    expect(await isTaken(rules, { privacyMode: true })).toBe(false)
  })
})

describe('a rule on content together with privacy_mode', () => {
  const rules = {
    groups: [
      {
        rules: [
          { field: 'model', operator: 'exists' },
          { field: 'output', operator: 'exists' },
        ],
      },
    ],
  }
  const config = { url: 'https://hooks.example/in' }
  const refused = async (response: Response): Promise<unknown> => {
    const { message } = objectOf(objectOf(await response.json())['error'])
    return [response.status, message]
  }
  const sentence = [
    400,
    expect.stringMatching(/^filter_rules\.groups\[0\]\.rules\[1\]\.field: .*privacy_mode/),
  ]

  test('is refused when the destination is made', async () => {
    const body = { name: 'private', type: 'webhook', config, privacy_mode: true, filter_rules: rules }
    expect(await refused(await gateway.manage('POST', DESTINATIONS, body))).toEqual(sentence)
  })

  test('is refused when either is set later, and taken with disabled rules', async () => {
    const id = await makeDestination({ filter_rules: rules })
    const path = `${DESTINATIONS}/${id}`
    expect(await refused(await gateway.manage('PATCH', path, { privacy_mode: true }))).toEqual(sentence)
    const off = { privacy_mode: true, filter_rules: { ...rules, enabled: false } }
    expect((await gateway.manage('PATCH', path, off)).status).toBe(200)
    expect(await refused(await gateway.manage('PATCH', path, { filter_rules: rules }))).toEqual(sentence)
    expect((await gateway.manage('PATCH', path, { filter_rules: null })).status).toBe(200)
    await gateway.manage('DELETE', path)
  })
})

test('patterns that are too large together are a 400 with the place of the one too many', async () => {
  const large = { field: 'model', operator: 'regex', value: '[ab]{1000}' }
  const filter_rules = { groups: [{ rules: Array.from({ length: 6 }, () => large) }] }
  const response = await gateway.manage('POST', DESTINATIONS, {
    name: 'heavy',
    type: 'webhook',
    config: { url: 'https://hooks.example/x' },
    filter_rules,
  })
  expect(response.status).toBe(400)
  const { error } = await response.json()
  expect(error.message).toStartWith('filter_rules.groups[0].rules[4].value: the patterns of a destination')
})
