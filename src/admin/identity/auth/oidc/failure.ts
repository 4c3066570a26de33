import { GatewayError } from '../../../../core/errors.ts'

/** The provider's fault, or the settings': the cause is in the log. */
export const failed = (what: string, cause: unknown): GatewayError =>
  new GatewayError(502, `The identity provider ${what}: the cause is in the log`, { cause })

/** An invalid proof of identity. `why` goes to the log, not to the caller. */
export const unproven = (why: string): GatewayError =>
  new GatewayError(401, 'The identity provider did not confirm this sign-in: begin again', {
    cause: new Error(why),
  })
