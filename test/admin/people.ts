/** People for tests: browsers with their cookies, and members who have accepted an invitation. */
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { MANAGEMENT_KEY } from '../gateway.ts'
import { call, type Reply } from '../scenario.ts'

export const PASSWORD = 'correct horse battery staple'

export interface Ask {
  method?: string
  path: string
  body?: unknown
  headers?: Record<string, string>
}

/** A browser on a page of this server: keeps its cookies and says where a request comes from. */
export interface Browser {
  ask(request: Ask): Promise<Reply>
  /** As `ask`, from the page of another site unless the headers say otherwise. */
  askFrom(request: Ask, headers: Record<string, string>): Promise<Reply>
  cookies: Map<string, string>
}

export function openBrowser(handler: () => Handler): Browser {
  const cookies = new Map<string, string>()
  const askFrom = async (request: Ask, from: Record<string, string>): Promise<Reply> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const reply = await call(handler(), {
      ...request,
      headers: { host: 'localhost', ...from, ...(cookie === '' ? {} : { cookie }), ...request.headers },
    })
    for (const header of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? []
      if (header.includes('Max-Age=0')) cookies.delete(name)
      else cookies.set(name, value)
    }
    return reply
  }
  return { cookies, askFrom, ask: (request) => askFrom(request, { 'sec-fetch-site': 'same-origin' }) }
}

export const dataOf = (reply: Reply): Record<string, unknown> => objectOf(objectOf(reply.json)['data'])
export const listOf = (reply: Reply): Record<string, unknown>[] => {
  const { data } = objectOf(reply.json)
  return Array.isArray(data) ? data.map(objectOf) : []
}

export const manage = (
  handler: Handler,
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<Reply> =>
  call(handler, {
    method,
    path: `/api/v1${path}`,
    key: MANAGEMENT_KEY,
    ...(body === undefined ? {} : { body }),
    ...(headers ? { headers } : {}),
  })

/** Invites a person, who accepts in a browser of their own. */
export async function join(
  handler: () => Handler,
  email: string,
  role: 'org:admin' | 'org:member' = 'org:member',
): Promise<{ id: string; browser: Browser }> {
  const invited = await manage(handler(), 'POST', '/organization/invitations', { email, role })
  const browser = openBrowser(handler)
  const reply = await browser.ask({
    method: 'POST',
    path: '/api/v1/auth/accept-invitation',
    body: { token: objectOf(invited.json)['token'], password: PASSWORD },
  })
  if (reply.status !== 200) throw new Error(`${reply.status}: ${reply.text}`)
  return { id: String(objectOf(dataOf(reply)['user'])['id']), browser }
}
