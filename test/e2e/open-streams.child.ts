import { startGateway } from '../gateway.ts'
import { CHUNKED_HEAD, chunk as httpChunk, scriptedServer } from '../net/scripted.ts'
import { chunk } from '../upstream.ts'

/**
 * Run by open-streams.test.ts in a process of its own, whose heap has nothing else: `bun open-streams.child.ts <streams>`.
 * Opens streams whose provider falls silent after two long texts, and prints how many long strings the heap has then.
 */
const streams = Number(process.argv[2])
const LONG_CHARACTERS = 48_000

const content = (text: string): string => httpChunk(chunk({ content: text }))
const long = content('x'.repeat(LONG_CHARACTERS))
const upstream = await scriptedServer((socket) => {
  const begin = httpChunk(chunk({ role: 'assistant', content: '' })) + content('Once upon a time')
  socket.write(CHUNKED_HEAD + begin + long, () =>
    setTimeout(() => socket.write(long + content(' there')), 20),
  )
})
const gateway = await startGateway({
  listens: true,
  providers: [
    {
      slug: 'lab',
      name: 'Lab',
      dialect: 'chat',
      base_url: `${upstream.url}/v1`,
      models: [{ id: 'm', pricing: { prompt: '0.000001', completion: '0.000002' } }],
    },
  ],
})

/** Of a node: its id, its size, its class and its flags. */
const NODE_FIELDS = 4

/** Strings of the heap that are longer than half of the long text. */
function longStrings(): number {
  Bun.gc(true)
  const { nodes, nodeClassNames } = Bun.generateHeapSnapshot()
  let count = 0
  for (let at = 0; at < nodes.length; at += NODE_FIELDS) {
    const size = nodes[at + 1] ?? 0
    if (size > LONG_CHARACTERS / 2 && nodeClassNames[nodes[at + 2] ?? 0] === 'string') count += 1
  }
  return count
}

/** Opens a stream and reads what has come; returns how to leave it. */
async function openStream(): Promise<() => Promise<void>> {
  const messages = [{ role: 'user', content: 'Tell me a story' }]
  const reply = await gateway.call('/chat/completions', { model: 'm', messages, stream: true })
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let end = ''; !end.includes(' there'); ) {
    const { value = '', done } = (await reader?.read()) ?? { done: true }
    if (done) throw new Error('the stream ended')
    end = end.slice(-100) + value
  }
  return async () => reader?.cancel()
}

const leaveFirst = await openStream()
const before = longStrings()
const leave = await Promise.all(Array.from({ length: streams }, openStream))
const held = longStrings() - before
await Promise.all([leaveFirst, ...leave].map((each) => each()))
await gateway.stop()
upstream.stop()
process.stdout.write(JSON.stringify({ open: leave.length, held }))
process.exit(0)
