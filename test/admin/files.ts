/** Uploads by tests, and the files on disk that they leave. */
import { expect } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { objectOf } from '../../src/http/json.ts'
import { API_KEY } from '../gateway.ts'
import type { Reply } from '../scenario.ts'
import type { Administration } from './administration.ts'

export const filesOnDisk = ({ gateway }: Administration): string[] =>
  readdirSync(join(gateway.folder, 'files')).sort()

export function form(content: BlobPart, filename: string, field = 'file'): FormData {
  const data = new FormData()
  data.append(field, new Blob([content]), filename)
  return data
}
export async function send(
  { handler }: Administration,
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
export async function upload(
  admin: Administration,
  content: BlobPart,
  filename: string,
): Promise<Record<string, unknown>> {
  const reply = await send(admin, form(content, filename))
  expect([reply.status, reply.text]).toEqual([200, expect.any(String)])
  return objectOf(reply.json)
}
