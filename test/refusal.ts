import { GatewayError } from '../src/core/errors.ts'

/** The error with which the gateway refuses this. Throws if it does not. */
export function refusalOf(work: () => unknown): GatewayError {
  try {
    work()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('it was not refused')
}
