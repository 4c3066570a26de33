import { withoutTrailing } from '../core/trailing.ts'
export type BaseUrl = { readonly url: string } | { readonly problem: string }

const SHAPE = 'must be an http or https URL with the version segment, such as https://api.example.com/v1'

/**
 * Reads the address of a provider. No trailing slash in the result, and nothing that could carry a secret or cut a
 * path off: user-info, query and fragment are problems. The problem completes "<setting> …" and never quotes the value.
 */
export function readBaseUrl(text: string): BaseUrl {
  let url: URL
  try {
    url = new URL(text.trim())
  } catch {
    return { problem: `${SHAPE}; this is not a URL` }
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { problem: SHAPE }
  if (url.username !== '' || url.password !== '') {
    return { problem: 'must not hold a user name or password: give the credential as the API key' }
  }
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text)) {
    return { problem: 'must not have a query or a fragment: paths are appended to it' }
  }
  return { url: url.origin + withoutTrailing(url.pathname, '/') }
}

/** True for an address on this machine: what is sent there does not leave it. */
export function isLoopback(baseUrl: string): boolean {
  const host = new URL(baseUrl).hostname
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(host)
  )
}
