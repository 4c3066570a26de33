import { describe, expect, test } from 'bun:test'
import { isSampled } from '../../../src/core/generation-content.ts'
import { objectOf } from '../../../src/http/json.ts'
import { startUpkeep } from '../../../src/server/upkeep.ts'
import { chat, MESSAGES, ON, startForLoggedContents, text } from './setup.ts'

/** Which generations a workspace logs, and what guardrails take out of them. */

const { gateway, logging, contentOf, storedOf, sentCount } = await startForLoggedContents()

describe('the log of a workspace', () => {
  const notLogged = async (path: string, body: unknown): Promise<string> => {
    const response = await gateway.call(path, body)
    await response.arrayBuffer()
    const id = response.headers.get('x-generation-id')
    const content = await gateway.call(`/generation/content?id=${id}`)
    const { message } = objectOf(objectOf(await content.json())['error'])
    expect({ status: content.status, message }).toMatchObject({ status: 404 })
    return String(message)
  }

  test('takes nothing after it is turned off, and keeps what it has', async () => {
    const response = await gateway.call('/chat/completions', chat('tiny'))
    const id = response.headers.get('x-generation-id') ?? ''
    await logging({ is_observability_io_logging_enabled: false })
    const message = await notLogged('/chat/completions', chat('tiny'))
    expect(message).toContain('not logged')
    expect(message).toContain('is_observability_io_logging_enabled')
    expect(await contentOf(id)).toMatchObject({ output: text('High.') })
    await logging(ON)
  })

  test('takes only generations of the keys that are named', async () => {
    const { key, hash } = await gateway.makeKey({})
    const own = objectOf(objectOf(await (await gateway.manage('GET', `/keys/${hash}`)).json())['data'])
    await logging({ io_logging_api_key_ids: [own['id']] })
    expect(await notLogged('/chat/completions', chat('tiny'))).toContain('io_logging_api_key_ids')
    const response = await gateway.call('/chat/completions', chat('tiny'), { authorization: `Bearer ${key}` })
    expect(await contentOf(response.headers.get('x-generation-id') ?? '')).toMatchObject({ error: null })
    await logging({ io_logging_api_key_ids: [] })
    expect(await notLogged('/chat/completions', chat('tiny'))).toContain('not logged')
    await logging(ON)
  })

  test('takes a share of the generations, chosen by their ids', async () => {
    await logging({ io_logging_sampling_rate: 0.5 })
    const seen = new Set<boolean>()
    for (let n = 0; n < 60; n++) {
      const response = await gateway.call('/chat/completions', chat('tiny'))
      const id = response.headers.get('x-generation-id') ?? ''
      const content = await gateway.call(`/generation/content?id=${id}`)
      expect({ id, status: content.status }).toEqual({ id, status: isSampled(id, 0.5) ? 200 : 404 })
      seen.add(isSampled(id, 0.5))
    }
    expect(seen.size).toBe(2)
    await logging(ON)
  })

  test('has what the guardrails leave: redacted text is in no file', async () => {
    const { key } = await gateway.makeGuardedKey({
      content_filters: [{ pattern: 'heron-\\d+', action: 'redact', label: '[BIRD]' }],
    })
    const asks: [path: string, body: Record<string, unknown>][] = [
      ['/chat/completions', { model: 'tiny', messages: [{ role: 'user', content: 'heron-77' }] }],
      ['/messages', { model: 'tiny', max_tokens: 5, system: 'heron-77', messages: MESSAGES }],
      ['/responses', { model: 'tiny', input: 'heron-77', instructions: 'heron-77', store: true }],
      ['/embeddings', { model: 'vectors', input: ['heron-77'] }],
      ['/rerank', { model: 'judge', query: 'heron-77', documents: ['heron-77', { text: 'heron-77' }] }],
      ['/images', { model: 'paint', prompt: 'heron-77' }],
      ['/audio/speech', { model: 'voice', input: 'heron-77', instructions: 'heron-77' }],
      [
        '/audio/transcriptions',
        { model: 'ears', prompt: 'heron-77', input_audio: { data: 'UklGRg==', format: 'wav' } },
      ],
    ]
    for (const [path, body] of asks) {
      const response = await gateway.call(path, body, { authorization: `Bearer ${key}` })
      await response.arrayBuffer()
      const content = JSON.stringify(await storedOf(response.headers.get('x-generation-id') ?? ''))
      expect({ path, content }).toEqual({ path, content: expect.stringContaining('[BIRD]') })
      expect(content).not.toContain('heron-77')
    }
  })

  test('takes nothing of a request that is rejected before a provider is called', async () => {
    const before = sentCount()
    const rows = () => gateway.bodies.file.query('SELECT count(*) AS n FROM logged_contents').get()
    await gateway.deps.contents.close()
    const stored = rows()
    expect((await gateway.call('/chat/completions', chat('unknown'))).status).toBe(404)
    await gateway.deps.contents.close()
    expect([sentCount(), rows()]).toEqual([before, stored])
  })
})

test('the log of a deleted workspace is hidden, and removed by the next sweep', async () => {
  const made = await gateway.manage('POST', '/workspaces', {
    name: 'Ebb',
    slug: 'ebb',
    is_observability_io_logging_enabled: true,
  })
  const { id: workspace_id } = objectOf(objectOf(await made.json())['data'])
  const { key, hash } = await gateway.makeKey({ workspace_id })
  const response = await gateway.call('/chat/completions', chat('tiny'), { authorization: `Bearer ${key}` })
  const id = response.headers.get('x-generation-id') ?? ''
  const read = async () => {
    const reply = await gateway.manage('GET', `/generation/content?id=${id}`)
    return { status: reply.status, text: await reply.text() }
  }
  expect(await read()).toMatchObject({ status: 200 })
  // For another workspace it is as unknown as an id that never existed.
  expect((await gateway.call(`/generation/content?id=${id}`)).status).toBe(404)
  await gateway.manage('DELETE', `/keys/${hash}`)
  expect(await read()).toMatchObject({ status: 200 })
  expect((await gateway.manage('DELETE', `/workspaces/${workspace_id}`)).status).toBe(200)
  expect(await read()).toEqual({ status: 404, text: expect.stringContaining('its workspace is deleted') })
  await gateway.deps.contents.close()
  const rows = () =>
    gateway.bodies.file.query('SELECT 1 FROM logged_contents WHERE generation_id = ?').all(id).length
  expect(rows()).toBe(1)
  await (await startUpkeep(gateway.bodies, gateway.deps, 0)).stop()
  expect(rows()).toBe(0)
})
