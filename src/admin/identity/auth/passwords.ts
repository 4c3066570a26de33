import { unavailable } from '../../../core/errors.ts'

export interface Passwords {
  /** argon2id, in the PHC form. */
  hash(password: string): Promise<string>
  /** Null: the account has no password. It takes as long as a wrong password does, and is always false. */
  matches(password: string, hash: string | null): Promise<boolean>
}

/** OWASP's second choice (Password Storage Cheat Sheet, 2025): 19 MiB, two passes. */
const COST = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
/** The hash of a random password, at the same cost. */
const NOBODYS =
  '$argon2id$v=19$m=19456,t=2,p=1$eppMnPlKK+TBDnlRyQCIAIKyfmQQ13pqTgwgY3QS+Tc$di2T7YC6yTc9o1Nxp7y1QoyA6zXpJ+Lb6Nzkr6ijctc'
/** Each holds 19 MiB and a core. */
const MOST_AT_ONCE = 4
const MOST_WAITING = 64
const RETRY_AFTER_SECONDS = 2

/** Hashes a few passwords at a time: a flood of sign-ins must not take the memory or cores of inference. */
export function createPasswords(): Passwords {
  let running = 0
  const waiting: (() => void)[] = []
  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= MOST_AT_ONCE) {
      if (waiting.length >= MOST_WAITING)
        throw unavailable('Too many people sign in at this moment', RETRY_AFTER_SECONDS)
      // A hash that ends starts the next one in its place.
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
  return {
    hash: (password) => inTurn(() => Bun.password.hash(sameText(password), COST)),
    async matches(password, hash) {
      const isEqual = await inTurn(() => Bun.password.verify(sameText(password), hash ?? NOBODYS))
      return isEqual && hash !== null
    },
  }
}

/** Keyboards write the same letter in different ways (NIST SP 800-63B, 5.1.1.2). */
const sameText = (password: string): string => password.normalize('NFKC')
