/** Serves routes that are built once below two prefixes. */
import type { Elysia } from 'elysia'

/** The routes are the same under both prefixes; the document shows them once, under this one. */
export const DOCUMENTED_PREFIX = '/api/v1'

/**
 * Serves every route below `from` also below `to`, with the same compiled handler. Called after all routes were added,
 * and before they are compiled. Elysia 1.4.30 has two tables: paths without parameters, and a tree for the others, which
 * it builds from a list at the end.
 */
export function serveBelow(app: Pick<Elysia, 'router'>, from: string, to: string): void {
  const { static: exact, http: tree } = app.router
  const isBelow = (path: string): boolean => path.startsWith(`${from}/`)
  for (const [path, methods] of Object.entries(exact))
    if (isBelow(path)) exact[to + path.slice(from.length)] = methods
  for (const [method, path, handler] of tree.deferred.filter(([, path]) => isBelow(path)))
    tree.add(method, to + path.slice(from.length), handler)
}
