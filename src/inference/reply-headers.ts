import type { Generation } from './generation.ts'

/** The headers of a whole reply in JSON. */
export const jsonHeaders = ({ id, cached }: Generation): Record<string, string> => {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store', 'x-generation-id': id }
  return cached ? { ...headers, ...cached.headers } : headers
}
