import * as read from '../readers.ts'
import { optional, type Setting, setting } from '../setting.ts'

/** Secrets, bootstrap keys and the first administrator. */
export const accessSettings = {
  secretKey: optional({
    variable: 'SLUICE_SECRET_KEY',
    type: '32 bytes, hex or base64',
    read: read.secretKey,
    meaning:
      'Encrypts provider credentials. Default: created at the first start, in `secret.key` of the data folder.',
  }),
  managementKey: optional({
    variable: 'SLUICE_MANAGEMENT_KEY',
    type: '≥ 32 visible ASCII',
    read: read.bootstrapKey,
    meaning: 'A management key that you choose, valid at every start.',
  }),
  apiKey: optional({
    variable: 'SLUICE_API_KEY',
    type: '≥ 32 visible ASCII',
    read: read.bootstrapKey,
    meaning: 'An inference key that you choose, without a limit, in the default workspace.',
  }),
  adminEmail: optional({
    variable: 'SLUICE_ADMIN_EMAIL',
    type: 'e-mail',
    read: read.emailAddress,
    meaning: 'E-mail address of the owner, set at every start.',
  }),
  adminPassword: optional({
    variable: 'SLUICE_ADMIN_PASSWORD',
    type: '12 to 256 characters',
    read: read.password,
    meaning: 'Password of the owner, set at every start. Needs `SLUICE_ADMIN_EMAIL`.',
  }),
  adminRateLimit: setting({
    variable: 'SLUICE_ADMIN_RATE_LIMIT',
    type: 'requests a minute',
    fallback: 6_000,
    read: read.wholeNumber(0, 1_000_000_000, 'requests a minute'),
    meaning: 'Administration requests that one key may send per minute. `0`: no limit.',
  }),
} satisfies Record<string, Setting<unknown>>
