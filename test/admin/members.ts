/** Members of the organization, as tests list them and sign them in. */
import { call, type Reply } from '../scenario.ts'
import type { Administration } from './administration.ts'
import { listOf, PASSWORD } from './people.ts'

export const memberOf = async ({ manage }: Administration, email: string) =>
  listOf(await manage('GET', '/organization/members')).find((member) => member['email'] === email)

export const accept = ({ handler }: Administration, token: unknown, more: object = {}): Promise<Reply> =>
  call(handler, {
    method: 'POST',
    path: '/v1/auth/accept-invitation',
    body: { token, password: PASSWORD, ...more },
  })

export const signIn = ({ handler }: Administration, email: string, password = PASSWORD): Promise<Reply> =>
  call(handler, { method: 'POST', path: '/v1/auth/sign-in', body: { email, password } })

/** The actions on a member or an invitation in the audit log, newest first. */
export const actionsOn = async ({ manage }: Administration, id: string): Promise<unknown[]> =>
  listOf(await manage('GET', `/audit-log?limit=100&resource_id=${id}`)).map(({ action }) => action)
