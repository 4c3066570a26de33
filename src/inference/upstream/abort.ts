/** Why an upstream call is aborted by us: decides how the generation is settled. */

/** The caller's connection went away, or took nothing for so long that it is as good as gone. */
export class CallerDisconnected extends Error {
  constructor(message = 'the client disconnected') {
    super(message)
    this.name = 'CallerDisconnected'
  }
}

/** The gateway stops: the caller gets an error event, and what was delivered is settled. */
export class ShutdownError extends Error {
  constructor() {
    super('the gateway is shutting down')
    this.name = 'ShutdownError'
  }
}
