import { address } from './address.ts'
import type { Builtin } from './builtin.ts'
import { creditCard } from './credit-card.ts'
import { email } from './email.ts'
import { ipAddress } from './ip-address.ts'
import { phone } from './phone.ts'
import { promptInjection } from './prompt-injection.ts'
import { secrets } from './secrets.ts'
import { ssn } from './ssn.ts'

/** By slug. Names of people are none: no pattern tells them from other words. */
export const builtins: Readonly<Record<string, Builtin>> = {
  email,
  phone,
  ssn,
  'credit-card': creditCard,
  'ip-address': ipAddress,
  secrets,
  address,
  'regex-prompt-injection': promptInjection,
}
