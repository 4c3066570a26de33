/** Requests that put secrets of every kind into a server. */

import type { ConfigField } from '../../../src/exporters/destination-types.ts'
import { DESTINATION_TYPES } from '../../../src/exporters/destination-types.ts'
import { objectOf } from '../../../src/http/json.ts'
import { BOOTSTRAP, PASSWORD, PERSON, secret } from './secrets.ts'

export interface Canary {
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Record<string, unknown>>
  chat(model: string, headers?: Record<string, string>): Promise<Record<string, unknown>>
  /** Secrets that the server made. */
  made: Set<string>
  providerUrl: string
  /** Takes a logged content as the API returns it. */
  keepContent(content: string): void
}

export const inference = { authorization: `Bearer ${BOOTSTRAP.SLUICE_API_KEY}` }
export const models = ['tide', 'fail-401', 'fail-500'].map((id) => ({
  id,
  pricing: { prompt: '0', completion: '0' },
}))
/** Each by the kind of its secrets. */
export const deeds: readonly [kind: string, put: (canary: Canary) => Promise<unknown>][] = [
  [
    'a created key, returned again for the same Idempotency-Key',
    async ({ send, chat, made }) => {
      for (const _ of [1, 2]) {
        const { key } = await send('POST', '/keys', { name: 'made' }, { 'idempotency-key': 'once' })
        made.add(String(key))
      }
      await chat('tide', { authorization: `Bearer ${[...made].at(-1)}` })
    },
  ],
  [
    'keys in wrong places: unknown keys, other headers, paths and queries',
    async ({ send, made }) => {
      const [key = ''] = made
      await send('GET', '/keys', undefined, { authorization: `Bearer ${secret('wrong-key')}` })
      await send('GET', '/keys', undefined, { authorization: `Basic ${secret('basic')}` })
      await send('POST', '/messages', {}, { authorization: '', 'x-api-key': secret('wrong-key') })
      await send('GET', `/keys/${key}`)
      await send('GET', `/keys?api_key=${secret('query')}`)
      await send('PATCH', `/keys/${key}`, { name: 'a' })
      await send('GET', '/nowhere', undefined, { cookie: `sluice_session=${secret('cookie')}` })
    },
  ],
  [
    'rejected bodies',
    async ({ send }) => {
      await send('POST', '/keys', `{"name": "${secret('broken-body')}`)
      await send('POST', '/keys', { name: 'a', key: secret('unknown-field') })
      await send('POST', '/keys', { name: 'a', external: { user: 'u', api_key: [secret('external')] } })
      await send('POST', '/keys', { name: 'a', limit_reset: secret('choice'), expires_at: secret('time') })
      await send('POST', '/byok', { provider: 'openai', key: { value: secret('byok-refused') } })
      await send('POST', '/chat/completions', { model: 'tide', messages: secret('messages') }, inference)
    },
  ],
  [
    'BYOK keys of a workspace',
    async ({ send, chat }) => {
      const { data } = await send('POST', '/byok', { provider: 'openai', key: secret('byok'), name: 'Ours' })
      await send('PATCH', `/byok/${objectOf(data)['id']}`, { key: secret('byok-changed') })
      await chat('openai/gpt-4o')
    },
  ],
  [
    'providers of the operator, and their credentials',
    async ({ send, providerUrl }) => {
      const base_url = `${providerUrl}/v1`
      const entry = {
        slug: 'stored',
        base_url,
        api_key: secret('key-of-a-stored-entry'),
        models: [{ id: 'stored-1' }],
      }
      await send('POST', '/providers/entries', entry)
      await send('PATCH', '/providers/entries/stored', { api_key: secret('changed-key-of-an-entry') })
      await send('POST', '/providers/entries', {
        ...entry,
        slug: 'broken',
        api_key: [secret('list-of-keys')],
      })
      const credential = { provider: 'mistral', credential: secret('credential'), base_url }
      const { data } = await send('POST', '/providers/credentials', credential)
      const id = String(objectOf(data)['id'])
      await send('PATCH', `/providers/credentials/${id}`, { credential: secret('rotated-credential') })
      for (const slug of ['stored', 'mistral', 'lab'])
        await send('POST', `/providers/configured/${slug}/test`)
    },
  ],
  [
    'destinations of every type',
    async ({ send, providerUrl }) => {
      for (const [type, fields] of Object.entries(DESTINATION_TYPES)) {
        const given = Object.fromEntries(fields.map((field) => [field.name, valueFor(field, providerUrl)]))
        const headers = { authorization: secret(`header-of-${type}`) }
        const body = { name: type, type, config: { ...given, headers } }
        const { data } = await send('POST', '/observability/destinations', body)
        const id = String(objectOf(data)['id'])
        await send('POST', `/observability/destinations/${id}/test`)
        await send('POST', '/observability/destinations', {
          ...body,
          config: { ...given, secretKey: [secret('list')] },
        })
      }
    },
  ],
  [
    'prompts and replies, and credentials that providers repeat',
    async ({ send, chat, keepContent }) => {
      await send('PATCH', '/workspaces/default', { is_observability_io_logging_enabled: true })
      for (const { id } of models) await chat(id)
      const { id } = await chat('tide')
      const { data: content } = await send('GET', `/generation/content?id=${id}`)
      keepContent(JSON.stringify(content))
      const kept = { model: 'tide', input: secret('stored-input'), store: true }
      await send('POST', '/responses', kept, inference)
      await send('POST', '/responses', { ...kept, background: true }, inference)
    },
  ],
  [
    'passwords, sessions and links',
    async ({ send, made }) => {
      await send('POST', '/auth/sign-in', { email: PERSON, password: secret('wrong-password') })
      await send('POST', '/auth/sign-in', {
        email: PERSON,
        password: PASSWORD,
        more: secret('sign-in-field'),
      })
      await send('POST', '/auth/sign-in', { email: PERSON, password: PASSWORD })
      const invitation = { email: 'ada@sluice.example', role: 'org:member' }
      const { token } = await send('POST', '/organization/invitations', invitation, {
        'idempotency-key': 'link',
      })
      made.add(String(token))
      await send('POST', '/auth/accept-invitation', { token: secret('link'), password: secret('password') })
      await send('POST', '/auth/accept-invitation', { token, password: secret('password-of-ada') })
    },
  ],
]

/** A value for the field, with the mark in it if it is secret. */
function valueFor({ name, kind, choices, isSecret }: ConfigField, providerUrl: string): string {
  const { host } = new URL(providerUrl)
  if (choices !== undefined) return choices[0] ?? ''
  if (kind === 'dsn') return `http://${secret(name)}@${host}/2`
  // The URL of a webhook is its credential.
  if (kind === 'url') return `http://${host}/${secret(name)}?token=${secret(name)}`
  if (kind === 'host') return host
  if (isSecret === true) return secret(name)
  return 'plain'
}
