/** Why the gateway aborts an upstream call: decides how the generation is settled. */
import { type Cancellation, onCancel } from '../../core/cancellation.ts'

/** The caller's connection went away, or took nothing for so long that it is as good as gone. */
export class CallerDisconnected extends Error {
  constructor(message = 'the client disconnected') {
    super(message)
    this.name = 'CallerDisconnected'
  }
}

/** Calls `leave` when the client disconnects, at once if it has already. */
export function onDisconnect(cancellation: Cancellation, leave: (reason: CallerDisconnected) => void): void {
  if (cancellation.reason instanceof CallerDisconnected) leave(cancellation.reason)
  else onCancel(cancellation, (reason) => reason instanceof CallerDisconnected && leave(reason))
}

/** The gateway stops: the caller gets an error event, and what was delivered is settled. */
export class ShutdownError extends Error {
  constructor() {
    super('the gateway is shutting down')
    this.name = 'ShutdownError'
  }
}
