import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Elysia, t } from 'elysia'
import { createApp } from '../../src/app.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { documentRoutes } from '../../src/http/openapi.ts'
import { operation } from '../../src/http/operation.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { call } from '../scenario.ts'
import { API_OPERATIONS } from './api-operations.ts'

let gateway: Gateway
let handler: Handler
let document: Record<string, unknown>

beforeAll(async () => {
  gateway = await startGateway()
  handler = createApp(gateway.deps)
  document = objectOf((await call(handler, { path: '/openapi.json' })).json)
})
afterAll(() => gateway.stop())

/** `at(document, 'paths', '/keys', 'post')` */
const at = (value: unknown, ...names: (string | number)[]): unknown =>
  names.reduce<unknown>(
    (inner, name) => (Array.isArray(inner) ? inner[Number(name)] : objectOf(inner)[name]),
    value,
  )
const operations = (): { path: string; method: string; value: Record<string, unknown> }[] =>
  Object.entries(objectOf(document['paths'])).flatMap(([path, methods]) =>
    Object.entries(objectOf(methods)).map(([method, value]) => ({ path, method, value: objectOf(value) })),
  )

describe('/openapi.json', () => {
  test('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(document))
    expect({ valid: result.valid, errors: result.errors }).toEqual({ valid: true, errors: undefined })
    expect(document['openapi']).toBe('3.1.0')
  })

  test('shows each operation once, under the first prefix', () => {
    expect(
      operations()
        .map(({ method, path }) => `${method} ${path}`)
        .toSorted(),
    ).toEqual(API_OPERATIONS)
    expect(document['servers']).toEqual([{ url: '/api/v1' }])
  })

  test('ids are unique, and every operation has a summary, a tag and a 200 schema or a redirect', () => {
    const ids = operations().map(({ value }) => value['operationId'])
    expect(new Set(ids).size).toBe(ids.length)
    for (const { method, path, value } of operations()) {
      const { 200: ok, 201: created, 303: redirect } = objectOf(value['responses'])
      const content = objectOf(ok ?? created)['content']
      // Copies, because Bun replaces matched values with the matchers, and later tests read the document.
      expect(structuredClone({ method, path, ...value })).toMatchObject({
        summary: expect.any(String),
        tags: [expect.any(String)],
      })
      if (redirect !== undefined) continue
      const [type = '', shape] = Object.entries(objectOf(content))[0] ?? []
      expect(structuredClone({ method, path, type, shape })).toMatchObject(
        type === 'application/json'
          ? { shape: { schema: isList(shape) ? { items: expect.anything() } : AN_OBJECT } }
          : { type: expect.stringContaining('/'), shape: { schema: { type: 'string', format: 'binary' } } },
      )
    }
  })

  const AN_OBJECT = { type: 'object', properties: expect.anything() }
  /** In Google's API a stream without `alt=sse` is one list. */
  const isList = (shape: unknown): boolean => objectOf(objectOf(shape)['schema'])['type'] === 'array'

  const statuses: [method: string, path: string, declared: number[]][] = [
    ['post', '/chat/completions', [400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 524, 529]],
    ['post', '/keys', [400, 401, 403, 429, 500]],
    ['patch', '/keys/{hash}', [400, 401, 404, 429, 500]],
    ['get', '/keys', [400, 401, 429, 500]],
    ['get', '/generation', [401, 402, 404, 429, 500, 502, 524, 529]],
    ['get', '/activity', [400, 401, 403, 404, 500]],
    ['get', '/models', [400, 401, 403, 500]],
    ['get', '/models/count', [400, 401, 403, 500]],
    ['get', '/models/user', [401, 403, 404, 500]],
    ['get', '/model/{author}/{slug}', [401, 403, 404, 500]],
    ['get', '/models/{author}/{slug}/endpoints', [401, 403, 404, 500]],
    ['get', '/embeddings/models', [400, 401, 500]],
    ['get', '/endpoints/zdr', [401, 403, 500]],
    ['get', '/providers', [401, 500]],
  ]

  test('the statuses of refusals are derived, the same for all operations of a kind', () => {
    for (const { method, path, value } of operations()) {
      const { security, parameters, requestBody, responses, tags } = value
      const isPublic = Array.isArray(security) && security.length === 0
      const named = (Array.isArray(parameters) ? parameters : []).map(objectOf)
      const due = [400, 500, 503]
      if (!isPublic) due.push(401, 403, 404, 429)
      if (requestBody !== undefined) due.push(413)
      if (named.some((parameter) => parameter['in'] === 'path')) due.push(404)
      if (named.some(({ name }) => name === 'Idempotency-Key')) due.push(409)
      const isInference = objectOf(responses)['529'] !== undefined && method === 'post'
      if (isInference) due.push(402, 408, 502, 524)
      const missing = due.filter((status) => objectOf(responses)[status] === undefined)
      expect({ method, path, missing }).toEqual({ method, path, missing: [] })
      if (method === 'post' && path.endsWith('/completions') && !path.startsWith('/presets'))
        expect({ path, tags, isInference }).toEqual({ path, tags, isInference: true })
    }
  })

  for (const [method, path, declared] of statuses) {
    test(`${method} ${path} declares its statuses with the envelope`, () => {
      for (const status of declared) {
        const schema = at(
          document,
          'paths',
          path,
          method,
          'responses',
          status,
          'content',
          'application/json',
          'schema',
        )
        expect({ status, schema }).toEqual({ status, schema: { $ref: '#/components/schemas/Error' } })
      }
    })
  }

  test('every operation takes a bearer key', () => {
    expect(document['security']).toEqual([{ apiKey: [] }])
    expect(at(document, 'components', 'securitySchemes', 'apiKey')).toMatchObject({
      type: 'http',
      scheme: 'bearer',
    })
  })

  test('the routing metadata header is a parameter', () => {
    const parameters = at(document, 'paths', '/chat/completions', 'post', 'parameters')
    expect(parameters).toContainEqual({
      name: 'X-Service-Metadata',
      in: 'header',
      required: false,
      description: expect.any(String),
      schema: { type: 'string', enum: ['disabled', 'enabled'], default: 'disabled' },
    })
  })

  const chatFields =
    'messages model models stream stream_options max_tokens max_completion_tokens temperature top_p top_k top_a min_p frequency_penalty presence_penalty repetition_penalty seed stop logit_bias logprobs top_logprobs tools tool_choice parallel_tool_calls response_format reasoning modalities plugins provider route service_tier session_id user metadata trace cache_control debug image_config stop_server_tools_when'
  test('the chat body shows every field of the specification', () => {
    const schema = at(
      document,
      'paths',
      '/chat/completions',
      'post',
      'requestBody',
      'content',
      'application/json',
      'schema',
    )
    const shown = Object.keys(objectOf(at(schema, 'properties')))
    expect(chatFields.split(' ').filter((field) => !shown.includes(field))).toEqual([])
    expect(at(schema, 'required')).toEqual(['messages'])
    const content = objectOf(
      at(document, 'paths', '/chat/completions', 'post', 'responses', '200', 'content'),
    )
    expect(Object.keys(content)).toEqual(['application/json', 'text/event-stream'])
  })

  const messagesFields =
    'model messages max_tokens system stop_sequences temperature top_p top_k stream tools tool_choice thinking metadata service_tier cache_control output_config context_management speed models fallbacks provider plugins route session_id trace user stop_server_tools_when'
  test('the messages body shows every field, and its errors have their own form', () => {
    const operation = at(document, 'paths', '/messages', 'post')
    const schema = at(operation, 'requestBody', 'content', 'application/json', 'schema')
    const shown = Object.keys(objectOf(at(schema, 'properties')))
    expect(messagesFields.split(' ').filter((field) => !shown.includes(field))).toEqual([])
    for (const status of ['400', '401', '404', '429', '529']) {
      const error = at(operation, 'responses', status, 'content', 'application/json', 'schema', 'properties')
      expect(Object.keys(objectOf(error))).toEqual(['type', 'error', 'request_id'])
    }
  })

  test('the price of a model has the prices of cache reads and writes, in its tiers too', () => {
    const reply = at(document, 'paths', '/model/{author}/{slug}', 'get', 'responses', '200', 'content')
    const model = at(reply, 'application/json', 'schema', 'properties', 'data', 'properties')
    const pricing = at(model, 'pricing', 'properties')
    const cached = ['input_cache_read', 'input_cache_write', 'input_cache_write_1h']
    for (const shown of [pricing, at(pricing, 'overrides', 'items', 'properties')])
      expect(Object.keys(objectOf(shown)).filter((name) => name.includes('cache'))).toEqual(cached)
  })

  test('nullable fields are lists of types, choices are enums', () => {
    const properties = at(
      document,
      'paths',
      '/keys',
      'post',
      'requestBody',
      'content',
      'application/json',
      'schema',
      'properties',
    )
    expect(at(properties, 'limit')).toMatchObject({ type: ['number', 'null'], minimum: 0 })
    expect(at(properties, 'limit_reset')).toEqual({
      type: ['string', 'null'],
      enum: ['daily', 'weekly', 'monthly', null],
    })
    expect(at(properties, 'expires_at')).toMatchObject({ type: ['string', 'null'], format: 'date-time' })
    const offset = at(document, 'paths', '/keys', 'get', 'parameters', 0)
    expect(offset).toMatchObject({ name: 'offset', in: 'query', schema: { type: 'integer', minimum: 0 } })
  })

  test('replies and refusals declare their headers', () => {
    const headers = (path: string, status: string): string[] =>
      Object.keys(objectOf(at(document, 'paths', path, 'post', 'responses', status, 'headers')))
    const cache = [
      'X-Generation-Id',
      ...['Status', 'Age', 'TTL', 'Source-Id'].map((name) => `X-OpenRouter-Cache-${name}`),
    ]
    for (const path of ['/chat/completions', '/responses', '/messages', '/embeddings', '/rerank'])
      expect([path, headers(path, '200')]).toEqual([path, cache])
    for (const path of ['/images', '/images/edits', '/audio/speech', '/audio/transcriptions'])
      expect([path, headers(path, '200')]).toEqual([path, ['X-Generation-Id']])
    expect(headers('/keys', '200')).toEqual([])
    const rate = ['Limit', 'Remaining', 'Reset'].map((name) => `X-RateLimit-${name}`)
    expect(headers('/images', '429')).toEqual(['Retry-After', 'RateLimit', 'RateLimit-Policy', ...rate])
    expect(headers('/keys', '429')).toContain('Retry-After')
    expect(headers('/images', '503')).toEqual(['Retry-After'])
    expect(headers('/keys', '400')).toEqual([])
    // The gateway is stopping, or its disk is full.
    for (const { method, path, value } of operations())
      expect([method, path, at(value, 'responses', 503, 'headers', 'Retry-After')]).toEqual([
        method,
        path,
        expect.anything(),
      ])
  })

  test('the body of an upload is a form', () => {
    expect(at(document, 'paths', '/files', 'post', 'requestBody')).toMatchObject({
      required: true,
      content: {
        'multipart/form-data': {
          schema: { properties: { file: { type: 'string', format: 'binary' } }, required: ['file'] },
        },
      },
    })
    const edits = objectOf(at(document, 'paths', '/images/edits', 'post', 'requestBody', 'content'))
    expect(Object.keys(edits)).toEqual(['application/json', 'multipart/form-data'])
  })

  test('no number of a body may be a string', () => {
    const texts: string[] = []
    const look = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return
      const { type, format } = objectOf(value)
      if (type === 'string' && (format === 'integer' || format === 'numeric')) texts.push(path)
      for (const [name, inner] of Object.entries(value)) look(inner, `${path}/${name}`)
    }
    look(document['paths'], '')
    expect(texts).toEqual([])
  })

  test('has no internal keyword', () => {
    expect(JSON.stringify(document)).not.toMatch(/"(documented|expects|x-shapes|x-errors|patternProperties)"/)
  })

  test('names its address below a base path', async () => {
    const reply = await call(createApp(gateway.deps, '/ai'), { path: '/ai/openapi.json' })
    expect(reply.json).toMatchObject({ servers: [{ url: '/ai/api/v1' }] })
    expect(Object.keys(objectOf(at(reply.json, 'paths')))).toContain('/keys/{hash}')
    expect((await call(createApp(gateway.deps, '/ai'), { path: '/ai/docs/api' })).text).toContain(
      'src="/ai/docs/start.js"',
    )
  })

  test('two operations with one id are an error', async () => {
    const detail = operation({ id: 'same', tag: 'x', summary: 'x', errors: [] })
    const app = new Elysia()
      .use(documentRoutes())
      .onError(({ error }) => String(error))
      .get('/api/v1/a', () => '', { detail, response: t.String() })
      .get('/api/v1/b', () => '', { detail, response: t.String() })
    const response = await app.handle(new Request('http://localhost/openapi.json'))
    expect(await response.text()).toContain('two operations of the API document have the id same')
  })
})
