import { expect, test } from 'bun:test'
import type { Attempt } from '../../../src/core/attempt.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import type { Message, Tool } from '../../../src/core/request.ts'
import { egresses, ingresses } from '../../../src/dialects/index.ts'
import { buildRewritten } from '../../../src/inference/upstream/rewritten.ts'
import { endpoint, model, provider } from '../fixture.ts'

const messages: Message[] = [
  { role: 'system', content: 'Be brief' },
  { role: 'user', content: 'Changed' },
]
const tools: Tool[] = [{ type: 'function', name: 'added', parameters: { type: 'object', properties: {} } }]

const attemptIn = (dialect: Attempt['dialect']): Attempt => {
  const own = endpoint('lab', 'm')
  return {
    model: model('m', [own]),
    endpoint: own,
    provider: provider('lab', { dialect }),
    credential: { id: 'lab-1', secret: 'secret' },
    dialect,
  }
}

const sent = (dialect: keyof typeof ingresses, body: JsonObject): JsonObject => {
  const request = ingresses[dialect].parse(body, new Headers())
  const changed = { ...request, messages, tools, toolChoice: 'auto' as const, rewritten: true as const }
  return buildRewritten(changed, attemptIn(dialect), egresses[dialect]).body
}

const user = { role: 'user', content: 'Before' }

test('chat: the changed conversation, and every other field of the caller', () => {
  const body = sent('chat', { model: 'm', messages: [user], tools: [], unknown: 1, temperature: 0.5 })
  expect(body).toMatchObject({ messages, unknown: 1, temperature: 0.5, tool_choice: 'auto' })
  expect(body['tools']).toMatchObject([{ type: 'function', function: { name: 'added' } }])
})

test('responses: instructions are a part of the conversation', () => {
  const body = sent('responses', { model: 'm', input: 'Before', instructions: 'Be long', unknown: 1 })
  expect(body).toMatchObject({ unknown: 1, tools: [{ name: 'added' }] })
  expect(body).not.toHaveProperty('instructions')
  expect(JSON.stringify(body['input'])).toContain('Changed')
  expect(JSON.stringify(body)).not.toMatch(/Before|Be long/)
})

test('messages: the system prompt is beside them', () => {
  const body = sent('messages', {
    model: 'm',
    max_tokens: 9,
    system: 'Be long',
    messages: [user],
    unknown: 1,
  })
  expect(body).toMatchObject({ unknown: 1, max_tokens: 9, tools: [{ name: 'added' }] })
  expect(JSON.stringify(body)).toMatch(/Be brief.*Changed|Changed.*Be brief/)
  expect(JSON.stringify(body)).not.toMatch(/Before|Be long/)
})

test('gemini: contents and the system instruction', () => {
  const body = sent('gemini', {
    model: 'm',
    contents: [{ role: 'user', parts: [{ text: 'Before' }] }],
    systemInstruction: { parts: [{ text: 'Be long' }] },
    safetySettings: [],
  })
  expect(body).toMatchObject({ safetySettings: [], tools: [{ functionDeclarations: [{ name: 'added' }] }] })
  expect(JSON.stringify(body)).toMatch(/Be brief.*Changed|Changed.*Be brief/)
  expect(JSON.stringify(body)).not.toMatch(/Before|Be long/)
})
