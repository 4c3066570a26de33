import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { objectOf } from '../../src/http/json.ts'
import { API_KEY, MANAGEMENT_KEY } from '../gateway.ts'
import { call, type Reply } from '../scenario.ts'
import { administration } from './administration.ts'
import { filesOnDisk, upload } from './files.ts'
import { addWorkspace, OTHER_WORKSPACE } from './fixtures.ts'

const PNG = Buffer.from('89504e470d0a1a0a0000000d494844520000000100000001080600000000000000', 'hex')
const now = Date.UTC(2026, 6, 15, 12)
const admin = administration({
  now: () => now,
  listens: true,
  environment: { SLUICE_FILES_QUOTA_MB: '1' },
})
let otherKey = ''
beforeAll(async () => {
  otherKey = (await addWorkspace(admin.gateway)).key
})

const get = (path: string, key = API_KEY): Promise<Reply> => call(admin.handler, { path: `/v1${path}`, key })

describe('a file', () => {
  test('is stored, listed, read back byte by byte, and deleted', async () => {
    const made = await upload(admin, PNG, 'boat.png')
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
    const search = { status: 'refused', reason: 'it has no text' }
    expect((await get(`/files/${id}`)).json).toEqual({ ...made, search })
    const response = await admin.handler(
      new Request(`http://localhost/v1/files/${id}/content`, {
        headers: { authorization: `Bearer ${API_KEY}` },
      }),
    )
    expect(Buffer.from(await response.arrayBuffer()).equals(PNG)).toBe(true)
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    expect(response.headers.get('content-disposition')).toContain('attachment; filename="boat.png"')
    expect(statSync(join(admin.gateway.folder, 'files', id)).mode & 0o777).toBe(0o600)
    const gone = await call(admin.handler, { method: 'DELETE', path: `/v1/files/${id}`, key: API_KEY })
    expect(gone.json).toEqual({ _shape: 'openrouter', id, type: 'file_deleted' })
    expect((await get(`/files/${id}`)).status).toBe(404)
    expect((await get(`/files/${id}/content`)).status).toBe(404)
    expect(filesOnDisk(admin)).not.toContain(id)
    const { data } = objectOf(
      (await call(admin.handler, { path: `/v1/audit-log?resource_id=${id}`, key: MANAGEMENT_KEY })).json,
    )
    expect(Array.isArray(data) && data.map((entry) => objectOf(entry)['action'])).toEqual([
      'file.delete',
      'file.create',
    ])
  })

  const kinds: [name: string, content: BlobPart, type: string][] = [
    ['an image without an extension', PNG, 'image/png'],
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
  test.each(kinds)('%s has the type of its content', async (filename, content, type) => {
    expect(await upload(admin, content, filename)).toMatchObject({ mime_type: type, filename })
  })

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\ada\\tides.txt', 'tides.txt'],
    ['größe 夏.txt', 'größe 夏.txt'],
    ['', 'file'],
  ])('the name %j is data, not a path', async (filename, name) => {
    const made = await upload(admin, 'x', filename)
    expect(made['filename']).toBe(name)
    expect(filesOnDisk(admin)).toContain(String(made['id']))
    expect(existsSync('/etc/passwd.part')).toBe(false)
  })
})

test('a list is paged by its cursor, oldest first', async () => {
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
  const { id } = await upload(admin, 'mine', 'mine.txt')
  const missing = await get(`/files/file_${'0'.repeat(32)}`, otherKey)
  for (const path of [`/files/${id}`, `/files/${id}/content`]) {
    expect([(await get(path, otherKey)).text, missing.status]).toEqual([missing.text, 404])
  }
  const deleted = await call(admin.handler, { method: 'DELETE', path: `/v1/files/${id}`, key: otherKey })
  expect(deleted.status).toBe(404)
  expect((await get(`/files/${id}?workspace_id=${OTHER_WORKSPACE}`)).status).toBe(404)
  expect((await get(`/files/${id}`, MANAGEMENT_KEY)).status).toBe(200)
  expect((await get(`/files/${id}?workspace_id=${OTHER_WORKSPACE}`, MANAGEMENT_KEY)).status).toBe(404)
})
