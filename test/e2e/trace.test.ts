import { expect, test } from 'bun:test'
import { verifyFolder } from '../../src/ledger/verify.ts'
import { gatewayOfFile, labOf } from '../file-setup.ts'
import { startUpstream, unary } from '../upstream.ts'

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  { providers: [labOf(upstream, [{ id: 'tiny', pricing: { prompt: '0', completion: '0' } }])] },
  upstream,
)
upstream.on('tiny', unary('Yes.'))

const ask = (more: object) =>
  gateway.call('/chat/completions', { model: 'tiny', messages: [{ role: 'user', content: 'x' }], ...more })
const recordOf = async (id: string) => (await (await gateway.call(`/generation?id=${id}`)).json()).data

test('the trace of a request is kept with its generation, and not sent to the provider', async () => {
  const trace = { trace_id: 't-1', span_name: 'plan', team: { name: 'search', size: 3 } }
  const { id } = await (await ask({ trace })).json()
  expect((await recordOf(id)).trace).toEqual(trace)
  expect(JSON.stringify(upstream.seen.at(-1))).not.toContain('t-1')
})

test('a generation without a trace has none', async () => {
  for (const more of [{}, { trace: null }]) {
    const { id } = await (await ask(more)).json()
    expect((await recordOf(id)).trace).toBeNull()
  }
})

test('a trace of more than 4,096 characters is refused', async () => {
  expect((await ask({ trace: { note: 'x'.repeat(4_085) } })).status).toBe(200)
  const refused = await ask({ trace: { note: 'x'.repeat(4_086) } })
  expect(refused.status).toBe(400)
  expect((await refused.json()).error.message).toBe(
    'trace: must have at most 4096 characters as JSON, not 4097',
  )
})

test('halves of characters in labels do not part the sums from their rows', async () => {
  const metadata = { 'a\ud83d': 'x\ud83d', 'a\udc00': 'y' }
  expect((await ask({ user: 'u\ud83d', metadata })).status).toBe(200)
  expect(gateway.generations().at(-1)?.['labels']).toBe('[["user","u\ufffd"],["tag:a\ufffd","y"]]')
  await gateway.deps.run.running.drain(0)
  const { differences } = verifyFolder(gateway.folder)
  expect(differences).toEqual([])
})
