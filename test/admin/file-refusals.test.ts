import { describe, expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { openFileStore } from '../../src/files/store.ts'
import { objectOf } from '../../src/http/json.ts'
import { API_KEY, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { runScenarios, type Scenario } from '../scenario.ts'
import { administration } from './administration.ts'
import { filesOnDisk, form, send } from './files.ts'
import { OTHER_WORKSPACE } from './fixtures.ts'

const now = Date.UTC(2026, 6, 15, 12)
const admin = administration({
  now: () => now,
  listens: true,
  environment: { SLUICE_FILES_QUOTA_MB: '1' },
})
const kept = (): string[] => filesOnDisk(admin)

test('a file whose workspace is deleted during the upload is rejected and removed', async () => {
  const made = await admin.gateway.manage('POST', '/workspaces', { name: 'Short', slug: 'short' })
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
  const uploading = admin.handler(
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
  expect((await admin.gateway.manage('DELETE', '/workspaces/short')).status).toBe(200)
  end()
  expect((await uploading).status).toBe(404)
  expect(kept()).toEqual(before)
})

describe('a rejected upload leaves no file', () => {
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
    const reply = await send(admin, body())
    expect([reply.status, reply.text]).toEqual([status, expect.stringContaining(contains)])
    expect(kept()).toEqual(before)
  })

  test('a body that is not a form', async () => {
    for (const type of ['multipart/form-data', 'application/json', 'multipart/form-data; boundary=xyz']) {
      const reply = await send(admin, 'no form', API_KEY, '', { 'content-type': type })
      expect([type, reply.status]).toEqual([type, 400])
    }
  })

  test('an upload that is aborted', async () => {
    const before = kept()
    const head =
      `POST /v1/files HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${API_KEY}\r\n` +
      'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n' +
      '--b\r\nContent-Disposition: form-data; name="file"; filename="half.txt"\r\n\r\nhalf of it'
    const { port } = new URL(admin.gateway.url)
    const socket = connect(Number(port), '127.0.0.1')
    await new Promise((resolve) => socket.write(head, resolve))
    // The part file is there as soon as the first bytes were taken.
    while (kept().length === before.length) await new Promise((resolve) => setImmediate(resolve))
    socket.destroy()
    while (kept().length > before.length) await new Promise((resolve) => setImmediate(resolve))
    expect(kept()).toEqual(before)
  })

  test('a declared length of more than 100 MB, without waiting for the body', async () => {
    const before = kept()
    const declared = await send(admin, 'x', API_KEY, '', {
      'content-type': 'multipart/form-data; boundary=b',
      'content-length': '200000000',
    })
    expect(declared.status).toBe(413)
    expect(kept()).toEqual(before)
  })

  test('a file that cannot be written is rejected without a hang', async () => {
    const broken = await startGateway({ now: () => now, listens: true })
    rmSync(join(broken.folder, 'files'), { recursive: true })
    // More than what is read ahead.
    const reply = await broken.manage('POST', '/files', form('x'.repeat(20_000_000), 'large.txt'))
    expect([reply.status, (await reply.json()).error.message]).toEqual([500, 'The file could not be kept'])
    await broken.stop()
  })

  test('a start removes leftovers of a crash: parts, and files without a row', async () => {
    const folder = join(admin.gateway.folder, 'files')
    const before = kept()
    writeFileSync(join(folder, 'broken.part'), 'half')
    writeFileSync(join(folder, `file_${'f'.repeat(32)}`), 'no row')
    await openFileStore(folder, admin.gateway.database, 1, () => undefined)
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
runScenarios('refusals', () => admin.handler, [
  at('POST', '/files'),
  at('GET', '/files'),
  at('GET', '/files/x'),
  at('GET', '/files/x/content'),
  at('DELETE', '/files/x'),
  at('GET', '/files?limit=0', { key: API_KEY, status: 400, contains: ['limit'] }),
  at('GET', '/files?limit=1001', { key: API_KEY, status: 400, contains: ['limit'] }),
  at('GET', '/files?cursor=made-up', { key: API_KEY, status: 400, contains: ['cursor'] }),
  at('GET', `/files?workspace_id=${OTHER_WORKSPACE}`, { key: API_KEY, status: 404 }),
  at('GET', '/files/x', { name: 'an unknown file', key: API_KEY, status: 404 }),
])
