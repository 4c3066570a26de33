import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createApp } from '../../src/app.ts'
import { createFileStore } from '../../src/files/store.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call, type Reply, runScenarios, type Scenario } from '../scenario.ts'
import { addWorkspace, OTHER_WORKSPACE } from './fixtures.ts'

const PNG = Buffer.from('89504e470d0a1a0a0000000d494844520000000100000001080600000000000000', 'hex')
const now = Date.UTC(2026, 6, 15, 12)
let gateway: Gateway
let handler: Handler
let otherKey = ''

beforeAll(async () => {
  gateway = await startGateway({
    now: () => now,
    listens: true,
    environment: { SLUICE_FILES_QUOTA_MB: '1' },
  })
  handler = createApp(gateway.deps)
  otherKey = (await addWorkspace(gateway)).key
})
afterAll(() => gateway.stop())

const kept = (): string[] => readdirSync(join(gateway.folder, 'files')).sort()
function form(content: BlobPart, filename: string, field = 'file'): FormData {
  const data = new FormData()
  data.append(field, new Blob([content]), filename)
  return data
}
async function send(
  body: FormData | string,
  key = API_KEY,
  query = '',
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await handler(
    new Request(`http://localhost/v1/files${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...headers },
      body,
    }),
  )
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) }
}
async function upload(content: BlobPart, filename: string): Promise<Record<string, unknown>> {
  const reply = await send(form(content, filename))
  expect([reply.status, reply.text]).toEqual([200, expect.any(String)])
  return objectOf(reply.json)
}
const get = (path: string, key = API_KEY): Promise<Reply> => call(handler, { path: `/v1${path}`, key })

describe('a file', () => {
  test('is kept, listed, read back byte by byte, and deleted', async () => {
    const made = await upload(PNG, 'boat.png')
    const id = String(made['id'])
    expect(made).toEqual({
      _shape: 'openrouter',
      id: expect.stringMatching(/^file_[0-9a-f]{32}$/),
      type: 'file',
      filename: 'boat.png',
      mime_type: 'image/png',
      size_bytes: PNG.length,
      downloadable: true,
      created_at: new Date(now).toISOString(),
    })
    expect((await get(`/files/${id}`)).json).toEqual(made)
    const response = await handler(
      new Request(`http://localhost/v1/files/${id}/content`, {
        headers: { authorization: `Bearer ${API_KEY}` },
      }),
    )
    expect(Buffer.from(await response.arrayBuffer()).equals(PNG)).toBe(true)
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    expect(response.headers.get('content-disposition')).toContain('attachment; filename="boat.png"')
    expect(statSync(join(gateway.folder, 'files', id)).mode & 0o777).toBe(0o600)
    const gone = await call(handler, { method: 'DELETE', path: `/v1/files/${id}`, key: API_KEY })
    expect(gone.json).toEqual({ _shape: 'openrouter', id, type: 'file_deleted' })
    expect((await get(`/files/${id}`)).status).toBe(404)
    expect((await get(`/files/${id}/content`)).status).toBe(404)
    expect(kept()).not.toContain(id)
    const { data } = objectOf(
      (await call(handler, { path: `/v1/audit-log?resource_id=${id}`, key: MANAGEMENT_KEY })).json,
    )
    expect(Array.isArray(data) && data.map((entry) => objectOf(entry)['action'])).toEqual([
      'file.delete',
      'file.create',
    ])
  })

  const kinds: [name: string, content: BlobPart, type: string][] = [
    ['an image whatever its name', PNG, 'image/png'],
    ['notes.txt', 'Tides are slow.', 'text/plain'],
    ['table.csv', 'a,b\n1,2\n', 'text/csv'],
    ['data.json', '{"a": "größe"}', 'application/json'],
    ['lines.jsonl', '{"a":1}\n{"a":2}\n', 'application/x-ndjson'],
    ['page.md', '# Tides', 'text/markdown'],
    ['tides.pdf', '%PDF-1.7\n%âãÏÓ', 'application/pdf'],
    ['song.flac', Buffer.from('664c614300000022', 'hex'), 'audio/flac'],
    ['fake.png', 'This is text.', 'text/plain'],
    ['noise.txt', Buffer.from([0, 1, 2, 3, 255, 254]), 'application/octet-stream'],
  ]
  test.each(kinds)('%s is what it contains', async (filename, content, type) => {
    expect(await upload(content, filename)).toMatchObject({ mime_type: type, filename })
  })

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\ada\\tides.txt', 'tides.txt'],
    ['größe 夏.txt', 'größe 夏.txt'],
    ['', 'file'],
  ])('the name %j is data and no path', async (filename, name) => {
    const made = await upload('x', filename)
    expect(made['filename']).toBe(name)
    expect(kept()).toContain(String(made['id']))
    expect(existsSync('/etc/passwd.part')).toBe(false)
  })
})

test('a file whose workspace is deleted while it arrives is refused, and nothing of it stays', async () => {
  const made = await gateway.manage('POST', '/workspaces', { name: 'Short', slug: 'short' })
  const workspaceId = String(objectOf(objectOf(await made.json())['data'])['id'])
  const before = kept()
  let end = (): void => undefined
  const body = new ReadableStream<string>({
    start(controller) {
      controller.enqueue(
        '--edge\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello',
      )
      end = () => {
        controller.enqueue('\r\n--edge--\r\n')
        controller.close()
      }
    },
  }).pipeThrough(new TextEncoderStream())
  const uploading = handler(
    new Request(`http://localhost/v1/files?workspace_id=${workspaceId}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${MANAGEMENT_KEY}`,
        'content-type': 'multipart/form-data; boundary=edge',
      },
      body,
    }),
  )
  while (kept().length === before.length) await Bun.sleep(5)
  expect((await gateway.manage('DELETE', '/workspaces/short')).status).toBe(200)
  end()
  expect((await uploading).status).toBe(404)
  expect(kept()).toEqual(before)
})

test('a list is paged by its cursor, oldest first, and ends', async () => {
  const whole = objectOf((await get('/files?limit=1000')).json)
  const all = Array.isArray(whole['data']) ? whole['data'].map(objectOf) : []
  expect(all.length).toBeGreaterThan(6)
  expect(whole).toMatchObject({
    first_id: all[0]?.['id'],
    last_id: all.at(-1)?.['id'],
    has_more: false,
    cursor: null,
  })
  const seen: unknown[] = []
  let cursor: unknown = ''
  while (cursor !== null) {
    const page = objectOf((await get(`/files?limit=4${cursor === '' ? '' : `&cursor=${cursor}`}`)).json)
    expect(page['has_more']).toBe(page['cursor'] !== null)
    if (Array.isArray(page['data'])) seen.push(...page['data'])
    cursor = page['cursor']
  }
  expect(seen).toEqual(all)
  expect((await get('/files', otherKey)).json).toEqual({
    _shape: 'openrouter',
    data: [],
    first_id: null,
    last_id: null,
    has_more: false,
    cursor: null,
  })
})

test("another workspace's file is the same 404 as a missing one; a management key names the workspace", async () => {
  const { id } = await upload('mine', 'mine.txt')
  const missing = await get(`/files/file_${'0'.repeat(32)}`, otherKey)
  for (const path of [`/files/${id}`, `/files/${id}/content`]) {
    expect([(await get(path, otherKey)).text, missing.status]).toEqual([missing.text, 404])
  }
  const deleted = await call(handler, { method: 'DELETE', path: `/v1/files/${id}`, key: otherKey })
  expect(deleted.status).toBe(404)
  expect((await get(`/files/${id}?workspace_id=${OTHER_WORKSPACE}`)).status).toBe(404)
  expect((await get(`/files/${id}`, MANAGEMENT_KEY)).status).toBe(200)
  expect((await get(`/files/${id}?workspace_id=${OTHER_WORKSPACE}`, MANAGEMENT_KEY)).status).toBe(404)
})

describe('what is not kept leaves nothing behind', () => {
  const refused: [what: string, body: () => FormData, status: number, contains: string][] = [
    ['an empty file', () => form('', 'empty.txt'), 400, 'empty'],
    ['a part of another name', () => form('x', 'a.txt', 'upload'), 400, 'must be named \\"file\\"'],
    [
      'two files',
      () => {
        const data = form('x', 'a.txt')
        data.append('file', new Blob(['y']), 'b.txt')
        return data
      },
      400,
      'once',
    ],
    [
      'a form without a file',
      () => {
        const data = new FormData()
        data.append('purpose', 'user_data')
        return data
      },
      400,
      'required',
    ],
    ['more than the quota', () => form(new Uint8Array(1_100_000), 'large.bin'), 413, 'may keep 1.0 MB'],
  ]
  test.each(refused)('%s', async (_, body, status, contains) => {
    const before = kept()
    const reply = await send(body())
    expect([reply.status, reply.text]).toEqual([status, expect.stringContaining(contains)])
    expect(kept()).toEqual(before)
  })

  test('a form that is none', async () => {
    for (const type of ['multipart/form-data', 'application/json', 'multipart/form-data; boundary=xyz']) {
      const reply = await send('no form', API_KEY, '', { 'content-type': type })
      expect([type, reply.status]).toEqual([type, 400])
    }
  })

  test('an upload that breaks off', async () => {
    const before = kept()
    const head =
      `POST /v1/files HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${API_KEY}\r\n` +
      'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n' +
      '--b\r\nContent-Disposition: form-data; name="file"; filename="half.txt"\r\n\r\nhalf of it'
    const { port } = new URL(gateway.url)
    const socket = connect(Number(port), '127.0.0.1')
    await new Promise((resolve) => socket.write(head, resolve))
    // The part file is there as soon as the first bytes were taken.
    while (kept().length === before.length) await new Promise((resolve) => setImmediate(resolve))
    socket.destroy()
    while (kept().length > before.length) await new Promise((resolve) => setImmediate(resolve))
    expect(kept()).toEqual(before)
  })

  test('beyond 100 MB, declared or chunked, and nobody waits for the rest', async () => {
    const before = kept()
    const declared = await send('x', API_KEY, '', {
      'content-type': 'multipart/form-data; boundary=b',
      'content-length': '200000000',
    })
    expect(declared.status).toBe(413)
    expect(kept()).toEqual(before)
  })

  test('a file that cannot be written is refused, and does not hang', async () => {
    const broken = await startGateway({ now: () => now, listens: true })
    rmSync(join(broken.folder, 'files'), { recursive: true })
    // More than what is read ahead.
    const reply = await broken.manage('POST', '/files', form('x'.repeat(20_000_000), 'large.txt'))
    expect([reply.status, (await reply.json()).error.message]).toEqual([500, 'The file could not be kept'])
    await broken.stop()
  })

  test('a start clears what a crash left: parts, and bytes that no row knows', () => {
    const folder = join(gateway.folder, 'files')
    const before = kept()
    writeFileSync(join(folder, 'broken.part'), 'half')
    writeFileSync(join(folder, `file_${'f'.repeat(32)}`), 'nobody knows')
    createFileStore(folder, gateway.database, 1)
    expect(kept()).toEqual(before)
  })
})

const at = (method: string, path: string, more: Partial<Scenario> = {}) => ({
  name: `${method} ${path}`,
  method,
  path: `/v1${path}`,
  status: 401,
  ...more,
})
runScenarios('refusals', () => handler, [
  at('POST', '/files'),
  at('GET', '/files'),
  at('GET', '/files/x'),
  at('GET', '/files/x/content'),
  at('DELETE', '/files/x'),
  at('GET', '/files?limit=0', { key: API_KEY, status: 400, contains: ['limit'] }),
  at('GET', '/files?limit=1001', { key: API_KEY, status: 400, contains: ['limit'] }),
  at('GET', '/files?cursor=made-up', { key: API_KEY, status: 400, contains: ['cursor'] }),
  at('GET', `/files?workspace_id=${OTHER_WORKSPACE}`, { key: API_KEY, status: 404 }),
  at('GET', '/files/x', { name: 'a file that is not there', key: API_KEY, status: 404 }),
])
