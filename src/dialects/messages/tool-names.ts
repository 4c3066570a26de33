import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../values.ts'

/**
 * Anthropic takes names of tools of up to 128 characters, and coding agents use them (`mcp__plugin_…__…`). OpenAI,
 * Bedrock and who follows them take 64 (400 `string too long`), so other dialects see a longer name shortened, the same
 * way wherever it stands, and callers get their own back.
 */
const MOST_CHARACTERS = 64
const KEPT = 47
const DIGEST_CHARACTERS = 16

/** The name as other dialects see it. */
export function shortName(name: string): string {
  if (name.length <= MOST_CHARACTERS) return name
  const digest = new Bun.CryptoHasher('sha256').update(name).digest('hex').slice(0, DIGEST_CHARACTERS)
  return `${name.slice(0, KEPT)}_${digest}`
}

/** The names of a body's tools that were shortened, by what became of them. */
export function longNames({ tools }: JsonObject): ReadonlyMap<string, string> {
  const names = Array.isArray(tools)
    ? tools.map((tool: unknown) => (isObject(tool) ? tool.name : undefined))
    : []
  return new Map(
    names.flatMap((name) =>
      isString(name) && name.length > MOST_CHARACTERS ? [[shortName(name), name]] : [],
    ),
  )
}
