import type { SqliteFile } from '../../src/db/database.ts'
import { type Database, databaseOf } from '../../src/db/database.ts'

export interface Faults {
  /** How many statements ran since the last `arm`. */
  readonly count: number
  readonly hasFired: boolean
  /** Lets the n-th statement from now fail with this code, and with `lasting` every later one too. */
  arm(n: number, code: string, lasting?: boolean): void
  disarm(): void
}

/** The same open file behind a shim that can let any statement fail, before it runs or (a COMMIT) after it ran. */
export function withFaults(
  database: Database,
  failsAfterCommit = false,
): { database: Database; faults: Faults } {
  let count = 0
  let at = 0
  let code = ''
  let isLasting = false
  let hasFired = false

  function strike<T>(isCommit: boolean, work: () => T): T {
    count += 1
    const isDue = at > 0 && (isLasting ? count >= at : count === at)
    if (!isDue) return work()
    hasFired = true
    if (isCommit && failsAfterCommit) work()
    throw Object.assign(new Error(`fault: ${code}`), { code })
  }

  const countStatement = <S extends object>(statement: S): S =>
    new Proxy(statement, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        const isCall = name === 'run' || name === 'get' || name === 'all' || name === 'values'
        return (...values: unknown[]) =>
          isCall ? strike(false, () => value.apply(target, values)) : value.apply(target, values)
      },
    })

  const file: SqliteFile = new Proxy(database.file, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...values: unknown[]) => {
        if (name === 'prepare') return countStatement(value.apply(target, values))
        // A rollback is what follows a fault: it is let through.
        if (name !== 'run' || values[0] === 'ROLLBACK') return value.apply(target, values)
        return strike(values[0] === 'COMMIT', () => value.apply(target, values))
      }
    },
  })

  const faults: Faults = {
    get count() {
      return count
    },
    get hasFired() {
      return hasFired
    },
    arm(n, withCode, lasting = false) {
      count = 0
      at = n
      code = withCode
      isLasting = lasting
      hasFired = false
    },
    disarm() {
      at = 0
    },
  }
  return { database: databaseOf(database.path, file), faults }
}
