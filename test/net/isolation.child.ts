import { createUpstream } from '../../src/net/client.ts'
import { outcomeOf, PATIENT, send } from './send.ts'

/**
 * Run by isolation.test.ts in a process of its own, because the cap of `fetch` is read once, at start:
 * `bun isolation.child.ts <url of the provider that stalls> <url of the one that works> <streams>`.
 */
const [stalledUrl = '', workingUrl = '', count = '0'] = process.argv.slice(2)
const upstream = createUpstream()
const stalled = { group: 'stalled', maxInFlight: Number(count) }

const firstBytes = await Promise.all(
  Array.from({ length: Number(count) }, async () => {
    const reply = await send(upstream, stalledUrl, stalled)
    const bytes = reply.bytes[Symbol.asyncIterator]()
    const first = await bytes.next()
    // The second read is what stalls.
    bytes.next().catch(() => undefined)
    return first.done === false
  }),
)

const latenciesMs: number[] = []
const statuses: (number | null)[] = []
for (let index = 0; index < 100; index += 1) {
  const startedAt = performance.now()
  const outcome = await outcomeOf(
    send(upstream, workingUrl, { group: 'working', timeouts: { ...PATIENT, firstByteMs: 3000 } }),
  )
  latenciesMs.push(performance.now() - startedAt)
  statuses.push(outcome.status)
}
const oneMore = await outcomeOf(send(upstream, stalledUrl, stalled))

process.stdout.write(
  JSON.stringify({
    open: firstBytes.filter(Boolean).length,
    inFlight: upstream.inFlight(),
    answered: statuses.filter((status) => status === 200).length,
    slowestMs: Math.max(...latenciesMs),
    medianMs: latenciesMs.toSorted((a, b) => a - b)[50],
    oneMore: String(oneMore.error),
  }),
)
process.exit(0)
