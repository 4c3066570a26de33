/** Which functions of the public SDK there are, and which of them were called. */
import { OpenRouter } from '@openrouter/sdk'

/** A client that notes the name of each function of its that is called: `workspaces.create`. */
export function recording(url: string, apiKey: string): { sdk: OpenRouter; called: Set<string> } {
  const sdk = new OpenRouter({ apiKey, serverURL: `${url}/api/v1`, retryConfig: { strategy: 'none' } })
  const called = new Set<string>()
  note(sdk, '', called)
  return { sdk, called }
}

function note(holder: object, path: string, called: Set<string>): void {
  for (const [name, { get, value }] of membersOf(holder)) {
    const place = path === '' ? name : `${path}.${name}`
    if (get !== undefined) {
      const room: unknown = Reflect.get(holder, name)
      if (typeof room === 'object' && room !== null) note(room, place, called)
    } else if (typeof value === 'function') {
      Object.defineProperty(holder, name, {
        value: (...args: unknown[]): unknown => {
          called.add(place)
          return Reflect.apply(value, holder, args)
        },
      })
    }
  }
}

/** Every function of the client, in order. */
export function functionsOf(holder: object = new OpenRouter({ apiKey: 'x' }), path = ''): string[] {
  return membersOf(holder)
    .flatMap(([name, { get, value }]) => {
      const place = path === '' ? name : `${path}.${name}`
      if (get === undefined) return typeof value === 'function' ? [place] : []
      const room: unknown = Reflect.get(holder, name)
      return typeof room === 'object' && room !== null ? functionsOf(room, place) : []
    })
    .toSorted()
}

const membersOf = (holder: object): [string, PropertyDescriptor][] =>
  Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(holder))).filter(
    ([name]) => name !== 'constructor' && !name.startsWith('_'),
  )

/** Where in a reply the SDK met a shape that it does not know. */
export function unknownIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  if ('isUnknown' in value && value.isUnknown === true) return [`${path}: ${JSON.stringify(value)}`]
  return Object.entries(value).flatMap(([name, inner]) => unknownIn(inner, `${path}.${name}`))
}
