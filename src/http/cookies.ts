/** Characters of cookie values. */
const VALUE = /^[A-Za-z0-9._-]*$/

/** The value of a cookie; undefined without one. If several have the name, the first: browsers send longer paths first. */
export function cookieOf({ headers }: Request, name: string): string | undefined {
  for (const part of (headers.get('cookie') ?? '').split(';')) {
    const [key = '', ...rest] = part.split('=')
    if (key.trim() === name) return rest.join('=').trim()
  }
  return undefined
}

export interface Cookie {
  name: string
  /** Letters, digits, dots, hyphens, underscores. */
  value: string
  path: string
  /** 0 deletes the cookie. */
  maxAgeSeconds: number
  isSecure: boolean
}

/** A `Set-Cookie` header. Scripts cannot read the cookie, and other sites send it only with plain links. */
export function setCookie({ name, value, path, maxAgeSeconds, isSecure }: Cookie): string {
  if (!VALUE.test(value)) throw new RangeError(`the value of the cookie ${name} cannot be sent`)
  const secure = isSecure ? '; Secure' : ''
  return `${name}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`
}
