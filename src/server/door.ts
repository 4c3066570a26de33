import type { Descriptors } from './descriptors.ts'

/** The listening socket, which is closed while file descriptors are scarce. */
export interface Door {
  readonly port: number | undefined
  pendingRequests(): number
  /** Ends every connection. */
  stop(): Promise<void>
}

export interface DoorOptions {
  /** Listens at this port; without one, at the port of the settings. */
  listen(port?: number): Bun.Server<undefined>
  /** Null: the socket is never closed. */
  descriptors: Descriptors | null
  onChange(isOpen: boolean, descriptors: { used: number; limit: number }): void
  onFailure(error: unknown): void
}

const LOOK_EVERY_MS = 100
/** Two backlogs of connections. */
const MOST_RESERVED = 1_024
const SHARE_RESERVED = 1 / 8
/** After this many checks one free place suffices: open connections may keep the count above the threshold for hours. */
const LONG_CLOSED_LOOKS = 20

/**
 * Stops listening while few file descriptors are free. Running requests need them for their providers, and without any,
 * Bun 1.4.5 uses a full core for failing accepts. Meanwhile new connections are refused, idle ones are closed, and running
 * requests continue.
 */
export function openDoor({ listen, descriptors, onChange, onFailure }: DoorOptions): Door {
  let current = listen()
  const { port } = current
  const closed = new Set<Bun.Server<undefined>>()
  const all = (): Set<Bun.Server<undefined>> => new Set([...closed, current])
  let isOpen = true
  let looks = 0

  function close(): void {
    const leaving = current
    closed.add(leaving)
    leaving.stop(false).then(() => closed.delete(leaving), onFailure)
    isOpen = false
    looks = 0
  }

  function open(): void {
    try {
      current = listen(port)
      isOpen = true
    } catch (error) {
      // Logged rarely: every check retries.
      if (looks % LONG_CLOSED_LOOKS === 0) onFailure(error)
    }
  }

  const timer = descriptors === null ? undefined : setInterval(look, LOOK_EVERY_MS, descriptors)
  const base = descriptors?.used() ?? 0

  function look({ limit, used: count }: Descriptors): void {
    const used = count()
    const reserve = Math.min(MOST_RESERVED, Math.max(1, Math.floor((limit - base) * SHARE_RESERVED)))
    const isScarce = used > limit - reserve
    const wasOpen = isOpen
    looks++
    if (isOpen && isScarce) close()
    else if (!isOpen && !isScarce && (used <= limit - 2 * reserve || looks > LONG_CLOSED_LOOKS)) open()
    if (isOpen !== wasOpen) onChange(isOpen, { used, limit })
  }

  return {
    port,
    pendingRequests: () => [...all()].reduce((sum, server) => sum + server.pendingRequests, 0),
    async stop() {
      clearInterval(timer)
      await Promise.all([...all()].map((server) => server.stop(true)))
    },
  }
}
