/**
 * Ends what runs for one request. Hardly any request is cancelled, so until one is this is a plain object; an
 * `AbortSignal` is made for those parts of the runtime that take nothing else.
 */
export interface Cancellation {
  /** Why; null until it is cancelled. */
  reason: Error | null
  listeners: Listener[] | null
  controller: AbortController | null
}

type Listener = (reason: Error) => void

export const newCancellation = (): Cancellation => ({ reason: null, listeners: null, controller: null })

/** A cancellation that follows a signal. */
export function cancellationOf(signal: AbortSignal): Cancellation {
  const cancellation = newCancellation()
  const follow = (): void => cancel(cancellation, errorOf(signal.reason))
  if (signal.aborted) follow()
  else signal.addEventListener('abort', follow, { once: true })
  return cancellation
}

const errorOf = (reason: unknown): Error =>
  reason instanceof Error ? reason : new Error('cancelled', { cause: reason })

/** Calls the listeners in their order. A second call changes nothing: the first reason stays. */
export function cancel(cancellation: Cancellation, reason: Error): void {
  if (cancellation.reason !== null) return
  cancellation.reason = reason
  const { listeners, controller } = cancellation
  cancellation.listeners = null
  controller?.abort(reason)
  if (listeners !== null) for (const listener of listeners) listener(reason)
}

/** Calls `listener` once it is cancelled; not for one that is already: callers look at `reason` first. */
export function onCancel(cancellation: Cancellation, listener: Listener): void {
  if (cancellation.listeners === null) cancellation.listeners = [listener]
  else cancellation.listeners.push(listener)
}

export function offCancel({ listeners }: Cancellation, listener: Listener): void {
  const at = listeners?.indexOf(listener) ?? -1
  if (at >= 0) listeners?.splice(at, 1)
}

export function throwIfCancelled({ reason }: Cancellation): void {
  if (reason !== null) throw reason
}

/** The same as a signal, created at its first use. */
export function signalOf(cancellation: Cancellation): AbortSignal {
  if (cancellation.controller === null) {
    cancellation.controller = new AbortController()
    if (cancellation.reason !== null) cancellation.controller.abort(cancellation.reason)
  }
  return cancellation.controller.signal
}
