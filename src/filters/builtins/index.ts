import { address } from './address.ts'
import type { Builtin } from './builtin.ts'
import { creditCard } from './credit-card.ts'
import { email } from './email.ts'
import { ipAddress } from './ip-address.ts'
import { personName } from './person-name.ts'
import { phone } from './phone.ts'
import { promptInjection } from './prompt-injection.ts'
import { secrets } from './secrets.ts'
import { ssn } from './ssn.ts'

export type Builtins = Readonly<Record<string, Builtin>>

/** By slug. Names of people are not among them: no pattern distinguishes them from other words. */
export const builtins: Builtins = {
  email,
  phone,
  ssn,
  'credit-card': creditCard,
  'ip-address': ipAddress,
  secrets,
  address,
  'regex-prompt-injection': promptInjection,
}

/** With names of people, if the settings name a list. */
export const builtinsWith = (names: readonly string[]): Builtins =>
  names.length === 0 ? builtins : { ...builtins, 'person-name': personName(names) }
