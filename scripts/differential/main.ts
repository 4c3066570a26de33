/**
 * `bun scripts/differential/main.ts --old <binary or commit> --new <binary or commit>`: sends the same requests through
 * two builds and compares replies, the calls that providers received, the rows of the ledger and the sums of money, all
 * but ids and times. Prints each difference and exits 1 when there is one. A commit is built in a folder of its own.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { binaryOf } from './build.ts'
import { type Case, cases } from './cases.ts'
import { API_KEY, startGateway } from './gateway.ts'
import { normalised } from './normalise.ts'
import { modelOf, startUpstream } from './upstream.ts'

const { values } = parseArgs({
  options: {
    old: { type: 'string' },
    new: { type: 'string', default: 'dist/sluice' },
    only: { type: 'string' },
    show: { type: 'string', default: '20' },
    report: { type: 'string' },
  },
})
if (values.old === undefined) throw new Error('--old names a binary or a commit')

/** All that one build makes of one case. */
interface Seen {
  readonly reply: string
  readonly calls: string
  readonly row: string
}

const all = cases().filter(({ name }) => values.only === undefined || name.includes(values.only))
const WORKERS = 6
/** Failing cases are spread among the others, because the retries of a gateway are a share of its last requests. */
const order = all.map((_, index) => index).sort((one, two) => spread(one) - spread(two))

async function replyOf(url: string, one: Case, index: number): Promise<[reply: string, id: string | null]> {
  const model = modelOf(index)
  const made = typeof one.body === 'function' ? one.body() : { ...one.body, model }
  if (made instanceof FormData) made.set('model', model)
  const isForm = made instanceof FormData
  const response = await fetch(`${url}/api/v1${one.path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      ...(isForm ? {} : { 'content-type': 'application/json' }),
      ...one.headers,
    },
    body: isForm ? made : JSON.stringify(made),
  })
  const text = await response.text()
  const kept = ['content-type', 'retry-after', 'x-should-retry', 'allow'].map(
    (name) => `${name}: ${response.headers.get(name)}`,
  )
  return [`${response.status}\n${kept.join('\n')}\n${text}`, response.headers.get('x-generation-id')]
}

async function rowOf(url: string, id: string | null): Promise<string> {
  if (id === null) return 'no generation'
  const response = await fetch(`${url}/api/v1/generation?id=${id}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  })
  return response.text()
}

async function seenBy(binary: string, folder: string): Promise<{ seen: Seen[]; sums: string }> {
  const upstream = await startUpstream(all)
  const gateway = await startGateway(binary, folder, all, upstream.port)
  const seen: Seen[] = []
  const left = order.values()
  const work = async () => {
    for (const index of left) {
      const one = all[index]
      if (!one) continue
      const [reply, id] = await replyOf(gateway.url, one, index).catch(
        (error) => [`threw ${error}`, null] as const,
      )
      const row = await rowOf(gateway.url, id)
      const calls = (upstream.calls.get(index) ?? []).join('\n')
      seen[index] = { reply: normalised(reply), calls: normalised(calls), row: normalised(row) }
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, work))
  const key = await fetch(`${gateway.url}/api/v1/key`, { headers: { authorization: `Bearer ${API_KEY}` } })
  const { data } = await key.json()
  await gateway.stop()
  upstream.stop()
  return { seen, sums: JSON.stringify({ usage: data.usage, byok: data.byok_usage }) }
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-differential-'))
mkdirSync(folder, { recursive: true })
try {
  const [before, after] = [
    await seenBy(await binaryOf(values.old), join(folder, 'old')),
    await seenBy(await binaryOf(values.new), join(folder, 'new')),
  ]
  const differences = all.flatMap(({ name }, index) =>
    (['reply', 'calls', 'row'] as const)
      .filter((part) => before.seen[index]?.[part] !== after.seen[index]?.[part])
      .map((part) => ({ name, part, old: before.seen[index]?.[part], new: after.seen[index]?.[part] })),
  )
  if (before.sums !== after.sums)
    differences.push({ name: 'sums of money', part: 'row', old: before.sums, new: after.sums })
  for (const { name, part, old, new: now } of differences.slice(0, Number(values.show)))
    console.log(`DIFFERENT ${part}: ${name}\n  old ${excerpt(old, now)}\n  new ${excerpt(now, old)}`)
  if (values.report !== undefined) writeFileSync(values.report, JSON.stringify(differences, null, 1))
  console.log(
    `${all.length} requests, ${differences.length} differences; spent ${before.sums} and ${after.sums}`,
  )
  process.exitCode = differences.length === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function spread(index: number): number {
  return (index * 997) % all.length
}

/** Where two texts begin to differ. */
function excerpt(text: string | undefined, other: string | undefined): string {
  const [one = '', two = ''] = [text, other]
  let at = 0
  while (at < one.length && one[at] === two[at]) at++
  return JSON.stringify(one.slice(Math.max(0, at - 80), at + 160))
}
