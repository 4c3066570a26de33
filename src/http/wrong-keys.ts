/** Requests with a wrong key get a 401 from memory. Floods of them are counted here. */
import ipaddr from 'ipaddr.js'

export interface WrongKeys {
  /**
   * Counts a request from `address` (null: unknown). True for the first few of a minute, which get their own log line.
   * The rest appear in one warning per minute.
   */
  count(address: string | null): boolean
  /** Since the start. */
  total(): number
  /** Number of addresses remembered for the next warning. */
  addresses(): number
  /** Logs the warning about all requests since the last one. */
  report(): void
  /** Reports a last time. */
  close(): void
}

export interface WrongKeysOptions {
  warn(fields: object, message: string): void
  /** Runs `work` later, once; returns a function that cancels it. Absent: a timer that does not keep the process alive. */
  later?(work: () => void, ms: number): () => void
}

const MINUTE_MS = 60_000
/** Requests from further addresses are counted without their address. */
const MOST_ADDRESSES = 10_000
const SHOWN_ADDRESSES = 10
/** Requests per minute with a log line of their own. */
const OWN_LINES = 10

/** Remembers addresses for at most a minute, and never a key. Starts its timer at the first wrong key. */
export function createWrongKeys({ warn, later = afterwards }: WrongKeysOptions): WrongKeys {
  const byNetwork = new Map<string, number>()
  let recent = 0
  let total = 0
  let cancel: (() => void) | null = null

  function report(): void {
    cancel?.()
    cancel = null
    if (recent === 0) return
    const most = [...byNetwork].sort(([, a], [, b]) => b - a).slice(0, SHOWN_ADDRESSES)
    warn(
      {
        wrong_keys: recent,
        wrong_keys_total: total,
        addresses: byNetwork.size,
        most_from: most.map(([address, count]) => ({ address, count })),
      },
      'requests with wrong API keys',
    )
    byNetwork.clear()
    recent = 0
  }

  return {
    count(address) {
      total += 1
      recent += 1
      const network = networkOf(address)
      const known = byNetwork.get(network)
      if (known !== undefined || byNetwork.size < MOST_ADDRESSES) byNetwork.set(network, (known ?? 0) + 1)
      cancel ??= later(report, MINUTE_MS)
      return recent <= OWN_LINES
    },
    total: () => total,
    addresses: () => byNetwork.size,
    report,
    close: report,
  }
}

/** A client with one IPv6 address controls the 2^64 of its network. */
function networkOf(address: string | null): string {
  if (address === null) return 'unknown'
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv6.parse(address).parts
  return `${new ipaddr.IPv6([a, b, c, d, 0, 0, 0, 0])}/64`
}

function afterwards(work: () => void, ms: number): () => void {
  const timer = setTimeout(work, ms)
  timer.unref()
  return () => clearTimeout(timer)
}
