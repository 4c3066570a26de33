import { GatewayError } from '../core/errors.ts'
import type { DialectName } from '../core/events.ts'
import { chatEgress } from './chat/egress.ts'
import { chatIngress } from './chat/ingress.ts'
import type { Egress, Ingress } from './dialect.ts'

/** What callers may speak. A new dialect is a folder here and a line. */
export const ingresses = {
  chat: chatIngress,
} satisfies Partial<Record<DialectName, Ingress>>

/** What providers may speak. */
export const egresses = {
  chat: chatEgress,
} satisfies Partial<Record<DialectName, Egress>>

const byName: Partial<Record<DialectName, Egress>> = egresses

/** Throws a `GatewayError` 500 for a dialect that is not in `egresses`: the settings should have refused it. */
export function egressOf(name: DialectName): Egress {
  const egress = byName[name]
  if (egress) return egress
  throw new GatewayError(500, `Providers that speak "${name}" cannot be called yet`)
}
