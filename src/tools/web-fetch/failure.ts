import { GatewayError } from '../../core/errors.ts'

/** Named by sites in their robots.txt, and sent with each call. */
export const AGENT = 'sluice'

/** Why a page could not be read, for the model and the caller. */
export const unread = (why: string, cause?: unknown): GatewayError =>
  new GatewayError(502, `The page could not be read: ${why}`, { cause })
