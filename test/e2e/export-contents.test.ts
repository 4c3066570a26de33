import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mediaOf } from '../../src/exporters/media.ts'
import { streamed, unary } from '../upstream.ts'
import { chatBody, onlyRecord, startForExport } from './export-setup.ts'

const { gateway, upstream, makeDestination, entries, lastPosition, recordsAfter, readRecords } =
  await startForExport()
upstream.on('lab-tiny', unary('the answer'))

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')
const lab = { provider: { only: ['lab'] } }
async function ask(fields: object = {}, path = '/chat/completions'): Promise<string> {
  const reply = await gateway.call(path, chatBody({ ...lab, ...fields }))
  await reply.text()
  return reply.headers.get('x-generation-id') ?? ''
}
/** Waits until contents are written. */
const written = async (work: () => Promise<unknown>): Promise<void> => {
  await work()
  await gateway.deps.exportContents.close()
}
const contentsIn = (): unknown[] => gateway.bodies.file.query('SELECT * FROM export_contents').all()

let destination: string
beforeEach(async () => {
  destination = await makeDestination()
})
afterEach(() => gateway.manage('DELETE', `/observability/destinations/${destination}`))

describe('the content of a record', () => {
  test('is the prompt, the answer and the tools', async () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
    const record = onlyRecord(await recordsAfter(() => written(() => ask({ tools }))))
    expect(record.content).toEqual({
      input: { messages: [{ role: 'user', content: 'Hello' }] },
      output: { completion: 'the answer', reasoning: null },
      tools,
    })
    expect(record.contentMissing).toBeNull()
  })

  test('of a stream is what its caller got', async () => {
    upstream.on('spare-tiny', streamed(['Hel', 'lo']))
    const spare = { stream: true, provider: { only: ['spare'] } }
    const record = onlyRecord(await recordsAfter(() => written(() => ask(spare))))
    expect(record.content?.output.completion).toBe('Hello')
  })

  test('names media by type and size', async () => {
    const png = `data:image/png;base64,${Buffer.concat([PNG, Buffer.alloc(900 - PNG.length, 7)]).toString('base64')}`
    const image = { type: 'image_url', image_url: { url: png } }
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'See' }, image] }]
    const record = onlyRecord(await recordsAfter(() => written(() => ask({ messages }))))
    expect(record.content?.input).toEqual({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See' },
            { type: 'image_url', image_url: { url: '[image/png, 900 bytes]' } },
          ],
        },
      ],
    })
    expect(mediaOf('[image/png, 900 bytes]')).toEqual({ type: 'image/png', bytes: 900 })
  })

  test('of a failure is the prompt, with the sentence that the caller got', async () => {
    upstream.on('spare-tiny', () => new Response('broken', { status: 500 }))
    const record = onlyRecord(await recordsAfter(() => written(() => ask({ provider: { only: ['spare'] } }))))
    expect(record).toMatchObject({
      truth: 'failed',
      error: { type: 'server', status: 500, message: expect.stringContaining('spare') },
      content: { output: { completion: null } },
    })
  })

  test('is not sent with privacy_mode, although another destination stores it', async () => {
    const record = onlyRecord(await recordsAfter(() => written(() => ask()), { privacyMode: true }))
    expect(record).toMatchObject({ content: null, contentMissing: 'privacy' })
  })

  test('is awaited for five seconds, and then missing', async () => {
    const before = lastPosition()
    await written(ask)
    const some = entries(before)
    await gateway.deps.exportContents.forget(some.map(({ generationId }) => generationId))
    expect(await readRecords(some)).toEqual(['later'])
    const late = some.map((entry) => ({ ...entry, committedAt: entry.committedAt - 5_000 }))
    expect(onlyRecord(await readRecords(late))).toMatchObject({
      content: null,
      contentMissing: 'unreadable',
    })
  })

  test('without room is missing, which the record says', async () => {
    const record = onlyRecord(
      await recordsAfter(async () => {
        await written(ask)
        gateway.bodies.file.run('UPDATE export_contents SET sealed = NULL')
      }),
    )
    expect(record).toMatchObject({ content: null, contentMissing: 'full' })
  })

  test('of a generation that is read from the ledger again is that of the content log', async () => {
    const workspace = (await (await gateway.manage('GET', '/workspaces')).json()).data[0].id
    const log = (isOn: boolean) =>
      gateway.manage('PATCH', `/workspaces/${workspace}`, { is_observability_io_logging_enabled: isOn })
    await log(true)
    const before = lastPosition()
    await written(ask)
    await gateway.deps.contents.close()
    await log(false)
    await written(ask)
    const again = entries(before).map((entry) => ({ ...entry, note: null }))
    const [logged, other] = await readRecords(again)
    expect(onlyRecord([logged]).content?.output.completion).toBe('the answer')
    expect(onlyRecord([other])).toMatchObject({ content: null, contentMissing: 'expired' })
  })
})

test('nothing is stored while all destinations have privacy_mode', async () => {
  await gateway.manage('PATCH', `/observability/destinations/${destination}`, { privacy_mode: true })
  const before = [contentsIn().length, lastPosition()]
  await written(ask)
  expect([contentsIn().length, entries(Number(before[1])).length]).toEqual([Number(before[0]), 1])
})
