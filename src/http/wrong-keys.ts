/** Requests with a wrong key: each is a 401 that is answered from memory, and floods of them are counted here. */
import ipaddr from 'ipaddr.js'

export interface WrongKeys {
  /**
   * Counts one that came from `address` (null: not known). True for the few of a minute that deserve a line of their
   * own in the log; the others are told of in the minute's one warning.
   */
  count(address: string | null): boolean
  /** Since the start. */
  total(): number
  /** How many addresses are remembered now, for the warning to come. */
  addresses(): number
  /** Writes the warning that is due, of all since the last one. */
  report(): void
  /** Reports a last time. */
  close(): void
}

export interface WrongKeysOptions {
  warn(fields: object, message: string): void
  /** Calls back once, later; what it answers prevents that. Absent: by the machine's clock, without keeping the process. */
  later?(work: () => void, ms: number): () => void
}

const MINUTE_MS = 60_000
/** A flood from more addresses than this is counted all the same, without saying from where. */
const MOST_ADDRESSES = 10_000
const SHOWN_ADDRESSES = 10
/** So many of a minute are seen one by one. */
const OWN_LINES = 10

/** Remembers addresses for a minute at most, and never a key. Starts no clock before the first wrong key. */
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

/** Who has one address of IPv6 has the 2^64 of its network. */
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
