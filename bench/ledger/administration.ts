import { isObject } from '../../src/core/json.ts'
import { MANAGEMENT_KEY } from '../sluice.ts'
import type { Target } from '../target.ts'

/** Calls administration and returns the JSON of the answer. Throws the message of a refusal. */
export async function manage(
  { port }: Target,
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const reply = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${text.slice(0, 500)}`)
  const answer: unknown = JSON.parse(text)
  if (!isObject(answer)) throw new Error(`${method} ${path} answered no object`)
  return answer
}

/** The record in `data`. */
export async function manageOne(...asked: Parameters<typeof manage>): Promise<Record<string, unknown>> {
  const { data } = await manage(...asked)
  if (!isObject(data)) throw new Error(`${asked[1]} ${asked[2]} answered no record`)
  return data
}

/** A further inference key, in clear, and its hash. */
export async function makeKey(target: Target, fields: object): Promise<{ key: string; hash: string }> {
  const { key, data } = await manage(target, 'POST', '/keys', { name: 'bench', ...fields })
  if (!isObject(data)) throw new Error('POST /keys answered no record')
  return { key: String(key), hash: String(data['hash']) }
}

/** What a key has spent, in nano-dollars. */
export async function spentNanoUsd(target: Target, hash: string): Promise<number> {
  const { usage } = await manageOne(target, 'GET', `/keys/${hash}`)
  return Math.round(Number(usage) * 1e9)
}
