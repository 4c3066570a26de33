import { randomBytes } from 'node:crypto'
import type { SigningSecret } from '../../../exporters/destination-types.ts'

/** 256 random bits. */
export const newSecret = (): SigningSecret => ({
  secret: `whsec_${randomBytes(32).toString('base64')}`,
  until: null,
})
