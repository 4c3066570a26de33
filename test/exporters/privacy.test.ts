import { describe, expect, test } from 'bun:test'
import type { DestinationType } from '../../src/exporters/destination-types.ts'
import { KINDS } from '../../src/exporters/kinds/index.ts'
import { meaningOfOtlp } from '../../src/exporters/otlp/meaning.ts'
import { CONFIGS } from './configs.ts'
import { contextFor, fullRecord } from './records.ts'

/**
 * A record has what its destination may see and nothing else, so a kind sends no more than that: without content no
 * prompt, and what a record withholds is not made up from another place.
 */
const types = Object.keys(CONFIGS).filter((type): type is DestinationType => type in KINDS)
const CANARY = 'canary-of-the-content'

async function bytesOf(type: DestinationType, record = fullRecord()): Promise<string> {
  const calls = await KINDS[type].batchOf([record], contextFor(CONFIGS[type]))
  const parts = calls.map(({ url, headers, body }) => {
    const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body)
    const text = bytes[0] === 0x1f && bytes[1] === 0x8b ? Buffer.from(Bun.gunzipSync(body)) : bytes
    return `${url}\n${JSON.stringify(headers)}\n${text.toString('latin1')}`
  })
  return parts.join('\n')
}

const content = {
  input: {
    messages: [
      { role: 'system', content: `${CANARY}-system` },
      { role: 'user', content: [{ type: 'text', text: `${CANARY}-prompt` }] },
      { role: 'user', content: [{ type: 'file', file: { filename: `${CANARY}-file`, file_id: 'file-1' } }] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'c',
            type: 'function',
            function: { name: `${CANARY}-tool`, arguments: `{"a":"${CANARY}-arguments"}` },
          },
        ],
      },
    ],
  },
  output: { completion: `${CANARY}-answer`, reasoning: `${CANARY}-reasoning` },
  tools: [{ type: 'function', function: { name: `${CANARY}-declared` } }],
}

test('every kind is here', () => expect(types.length).toBe(17))

describe.each(types)('%s', (type) => {
  test('sends prompt and answer if it has them', async () => {
    const bytes = await bytesOf(type, fullRecord({ content }))
    expect([bytes.includes(`${CANARY}-prompt`), bytes.includes(`${CANARY}-answer`)]).toEqual([true, true])
  })

  test('sends nothing of the content without content, and no text of an error', async () => {
    const error = { type: 'provider_error', status: 502, message: null }
    const record = fullRecord({ content: null, contentMissing: 'privacy', truth: 'failed', error })
    const bytes = await bytesOf(type, record)
    const texts = [CANARY, 'Answer briefly', 'Paris', 'The tool said so', 'rainy']
    expect(texts.filter((text) => bytes.includes(text))).toEqual([])
  })

  test('sends no cost, caller or context that it has not got', async () => {
    const record = fullRecord({ cost: null, identity: null, requestContext: null })
    const bytes = await bytesOf(type, record)
    const texts = ['user-1', 'Nightly jobs', 'a'.repeat(64), 'app.example', 'app/1.0', '0.000125']
    expect(texts.filter((text) => bytes.includes(text))).toEqual([])
  })

  test('keeps its credentials out of the events', async () => {
    const calls = await KINDS[type].batchOf([fullRecord()], contextFor(SECRETS(type)))
    const isInBody = type === 'posthog'
    for (const { body } of calls) {
      const text = typeof body === 'string' ? body : Buffer.from(body).toString('latin1')
      expect(text.includes('canary-of-the-credential')).toBe(isInBody)
    }
  })
})

/** Those of the other kinds come without media: the delivery's records have none. */
const OTLP = types.filter((type) => KINDS[type].meaningOf === meaningOfOtlp)

describe.each(OTLP)('%s', (type) => {
  test('names images and sounds by type and size', async () => {
    const png = 'iVBORw0KGgoAAAANSUhEUg'.repeat(100)
    const message = {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
        { type: 'input_audio', input_audio: { data: png, format: 'wav' } },
      ],
    }
    const record = fullRecord({ content: { ...content, input: { messages: [message] } } })
    const bytes = await bytesOf(type, record)
    expect([bytes.includes(png.slice(0, 60)), bytes.includes('image/png')]).toEqual([false, true])
  })
})

/** Secrets that no event may have. PostHog's key is a public one, and in each of its bodies. */
const SECRETS = (type: DestinationType): Record<string, string> => {
  const secret = 'canary-of-the-credential'
  const fields = Object.entries(CONFIGS[type]).map(([name, value]) =>
    ['apiKey', 'spaceKey', 'password', 'token', 'licenseKey', 'secretKey', 'secretAccessKey'].includes(name)
      ? [name, secret]
      : [name, value],
  )
  return {
    ...Object.fromEntries(fields),
    ...(type === 'sentry' ? { dsn: `https://${secret}@o1.ingest.sentry.io/2` } : {}),
  }
}
