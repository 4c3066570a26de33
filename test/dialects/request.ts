import type { InferenceRequest } from '../../src/core/request.ts'

/** The smallest request, for writers that need little of it. */
export const REQUEST: InferenceRequest = {
  apiType: 'completions',
  dialect: 'chat',
  body: { model: 'acme/large', messages: [{ role: 'user', content: 'Hi' }] },
  models: ['acme/large'],
  stream: false,
  messages: [{ role: 'user', content: 'Hi' }],
  tools: [],
  sampling: {},
  preferences: { allowFallbacks: true, requireParameters: false },
  echoUpstreamBody: false,
  parameters: [],
}
