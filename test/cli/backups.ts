/** Servers with something to back up, and a stopped data folder with its backup. */
import { afterAll, beforeAll, expect } from 'bun:test'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeBroken, removeVerified } from '../verified.ts'
import { BOOTSTRAP, type Served, sluice, startServer } from './process.ts'

const { SLUICE_API_KEY, SLUICE_MANAGEMENT_KEY } = BOOTSTRAP
/** Without a secret key, so that the folder has its own. */
export const ENV = { SLUICE_API_KEY, SLUICE_MANAGEMENT_KEY }

export async function ask(
  server: Served,
  path: string,
  body?: unknown,
  key = SLUICE_API_KEY,
): Promise<Response> {
  const isForm = body instanceof FormData
  return fetch(`${server.url}/api/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, ...(isForm ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  })
}

export const chat = (server: Served) =>
  ask(server, '/chat/completions', { model: 'sluice/demo', messages: [{ role: 'user', content: 'Hi' }] })

export async function upload(server: Served, text: string): Promise<string> {
  const form = new FormData()
  form.set('file', new File([text], 'note.txt'))
  const reply = await ask(server, '/files', form)
  expect([reply.status, reply.statusText]).toEqual([200, 'OK'])
  return (await reply.json()).id
}

/** For the tests of one file: a data folder that a server has left, and its backup. */
export function backUpStopped() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-backup-'))
  const [data, backup] = [join(folder, 'data'), join(folder, 'backup')]
  beforeAll(async () => {
    const server = await startServer(data, { env: ENV })
    await upload(server, 'a file')
    await ask(server, '/byok', { provider: 'openai', key: 'sk-of-the-caller' }, SLUICE_MANAGEMENT_KEY)
    await chat(server)
    await server.stop()
    expect((await sluice(['backup', backup, '--data', data])).exitCode).toBe(0)
  })
  afterAll(() => {
    removeVerified(data)
    removeVerified(backup)
    removeBroken(folder)
  })
  return { folder, data, backup, there: (name: string): string => join(folder, name) }
}
