import { expect, test } from 'bun:test'
import { GatewayError, unavailable } from '../../../src/core/errors.ts'
import { withEdge } from '../../../src/http/edge.ts'
import { errorFormOf } from '../../../src/inference/reply/error-forms.ts'
import { edgeDeps } from '../../incoming.ts'

/** Which errors have Anthropic's form: those of its routes, wherever in the server the error is made. */

const log = { error: () => undefined }
const bodyOf = async (path: string, failure: GatewayError | null, basePath = '') => {
  const broken = () => {
    throw failure ?? new Error('private')
  }
  const edge = withEdge(broken, edgeDeps(log), { isDraining: () => false, formOf: errorFormOf(basePath) })
  const request = new Request(`http://localhost${path}`, { method: 'POST', headers: { host: 'localhost' } })
  const response = await edge(request)
  return { response, body: await response.json() }
}

test.each<[path: string, basePath: string, isAnthropics: boolean]>([
  ['/v1/messages', '', true],
  ['/api/v1/messages', '', true],
  ['/v1/messages?beta=true', '', true],
  ['/v1/messages/count_tokens', '', true],
  ['/v1/messages/batches/1', '', true],
  ['/ai/v1/messages', '/ai', true],
  ['/v1/messages', '/ai', false],
  ['/v1/messagesque', '', false],
  ['/v1/chat/completions', '', false],
  ['/messages', '', false],
])('%s below %p: %p', async (path, basePath, isAnthropics) => {
  const { body } = await bodyOf(path, new GatewayError(404, 'No.'), basePath)
  expect(body).toEqual(
    isAnthropics
      ? { type: 'error', error: { type: 'not_found_error', message: 'No.' }, request_id: expect.any(String) }
      : { error: { code: 404, message: 'No.' } },
  )
})

test('a refusal of all requests keeps its headers', async () => {
  const { response, body } = await bodyOf('/v1/messages', unavailable('Stopping', 5))
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe('5')
  expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'))
  expect(body).toMatchObject({ type: 'error', error: { type: 'api_error', message: 'Stopping' } })
  expect(body.request_id).toBe(response.headers.get('x-request-id'))
})

test('an unexpected failure reveals nothing private', async () => {
  const { response, body } = await bodyOf('/v1/messages', null)
  expect(response.status).toBe(500)
  expect(body).toMatchObject({ type: 'error', error: { type: 'api_error' } })
  expect(JSON.stringify(body)).not.toContain('private')
})
