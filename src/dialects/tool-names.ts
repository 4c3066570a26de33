import type { JsonObject } from '../core/events.ts'
import { asList, isObject, isString } from '../core/json.ts'

/**
 * Anthropic takes names of tools of up to 128 characters, Google dots and colons in them too, and coding agents use
 * both (`mcp__plugin_…__…`). OpenAI, Bedrock and compatible servers accept 64 letters, digits, `_` and `-` (400 `string too
 * long`), so other dialects see any other name shortened, the same way everywhere, and callers get their own
 * back.
 */
const TAKEN = /^[A-Za-z0-9_-]{1,64}$/
const KEPT = 47
const DIGEST_CHARACTERS = 16

/** The name as other dialects see it. */
export function shortName(name: string): string {
  if (TAKEN.test(name)) return name
  const digest = new Bun.CryptoHasher('sha256').update(name).digest('hex').slice(0, DIGEST_CHARACTERS)
  return `${name.slice(0, KEPT).replace(/[^A-Za-z0-9_-]/g, '_')}_${digest}`
}

/** The names of a body's tools that were shortened, by what became of them. */
export function longNames({ tools }: JsonObject): ReadonlyMap<string, string> {
  const listed = asList(tools)
  return new Map(
    listed.flatMap(namesIn).flatMap((name) => (TAKEN.test(name) ? [] : [[shortName(name), name] as const])),
  )
}

/** A tool has a name, or declares functions that have. */
function namesIn(tool: unknown): string[] {
  if (!isObject(tool)) return []
  const { name, functionDeclarations: declared } = tool
  return [...(isString(name) ? [name] : []), ...(Array.isArray(declared) ? declared.flatMap(namesIn) : [])]
}
