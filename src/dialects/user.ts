import type { InferenceRequest } from '../core/request.ts'

/** OpenAI refuses a longer `user` (400 `string too long`), others one of more than 128 characters. */
const MOST_CHARACTERS = 64

/**
 * Who asks, as providers of another dialect take it: coding agents send some 150 characters as Anthropic's
 * `metadata.user_id`. A longer name becomes its SHA-256 in hex, the same every time, and is told to `drop`.
 */
export function writeUser({ user }: InferenceRequest, drop: (name: string) => void): string | undefined {
  if (user === undefined || user.length <= MOST_CHARACTERS) return user
  drop('user')
  return new Bun.CryptoHasher('sha256').update(user).digest('hex')
}
