/** Reasons for aborting an upstream call. They determine how the generation is settled. */
import { type Cancellation, onCancel } from '../../core/cancellation.ts'

/** The caller closed its connection, or stopped reading from it. */
export class CallerDisconnected extends Error {
  constructor(message = 'the client disconnected') {
    super(message)
    this.name = 'CallerDisconnected'
  }
}

/** Calls `leave` when the client disconnects, or immediately if it already has. */
export function onDisconnect(cancellation: Cancellation, leave: (reason: CallerDisconnected) => void): void {
  if (cancellation.reason instanceof CallerDisconnected) leave(cancellation.reason)
  else onCancel(cancellation, (reason) => reason instanceof CallerDisconnected && leave(reason))
}

/** Another endpoint gave content first, so this call is no longer needed. */
export class HedgeLostError extends Error {
  constructor() {
    super('another endpoint gave content first')
    this.name = 'HedgeLostError'
  }
}

/** The gateway is shutting down: the caller gets an error event, and the delivered part is settled. */
export class ShutdownError extends Error {
  constructor() {
    super('the gateway is shutting down')
    this.name = 'ShutdownError'
  }
}
