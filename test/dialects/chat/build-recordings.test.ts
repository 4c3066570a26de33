import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Attempt } from '../../../src/core/attempt.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import { isObject } from '../../../src/core/json.ts'
import { chatEgress, chatIngress } from '../../../src/dialects/chat/index.ts'
import { quirksOf, vendors } from '../../../src/providers/compatible.ts'
import { endpoint, model, provider } from '../../inference/fixture.ts'
import { hasTranscripts, TRANSCRIPTS } from '../../recordings.ts'

/** Recorded requests to chat providers: the request that we forward to the same provider is equivalent. */

interface Asked {
  name: string
  vendor: string
  request: JsonObject
}

function recorded(): Asked[] {
  if (!hasTranscripts) return []
  const folders = readdirSync(TRANSCRIPTS, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return folders.flatMap(({ name: vendor }) =>
    readdirSync(join(TRANSCRIPTS, vendor))
      .filter((file) => file.endsWith('.http.json'))
      .sort()
      .flatMap((file) => {
        const cassette: { interactions: { url: string; request_json?: unknown }[] } = JSON.parse(
          readFileSync(join(TRANSCRIPTS, vendor, file), 'utf8'),
        )
        return cassette.interactions.flatMap(({ url, request_json: request }, i) =>
          isObject(request) && /\/chat\/completions(\?|$)/.test(url)
            ? [{ name: `${vendor}/${file}#${i}`, vendor, request }]
            : [],
        )
      }),
  )
}

/** Folders of recordings whose name is not the vendor's slug. */
const VENDORS: Readonly<Record<string, string>> = { zai: 'z-ai', moonshot: 'moonshotai' }

function attemptAt(slug: string): Attempt {
  const vendor = vendors.find((row) => row.slug === (VENDORS[slug] ?? slug))
  const at = endpoint(slug, 'lab/model', { upstreamId: 'the-model' })
  const own = provider(slug, { quirks: vendor === undefined ? {} : quirksOf(vendor) })
  return {
    model: model('lab/model', [at]),
    endpoint: at,
    provider: own,
    credential: { id: slug, secret: null },
    dialect: 'chat',
  }
}

/** Recorded headers for another gateway: Sluice applies them itself and sends none. */
const GATEWAYS_OWN = ['provider', 'models', 'transforms']

/**
 * The recorded request as we may write it: our model's name, usage always asked for in streams (not of Mistral, who
 * refuses the question), nulls and `stream: false` as absent as they are meant, one name for the bound.
 */
function same({ model: _, stream, stream_options, ...request }: JsonObject): JsonObject {
  const bound = request['max_completion_tokens'] ?? request['max_tokens']
  const { max_tokens: __, max_completion_tokens: ___, ...rest } = request
  const sent = Object.fromEntries(
    Object.entries(rest).filter(([name, value]) => value !== null && !GATEWAYS_OWN.includes(name)),
  )
  return {
    ...sent,
    ...(stream === true ? { stream } : {}),
    ...(bound === undefined || bound === null ? {} : { bound }),
    ...(isObject(stream_options) && Object.keys(stream_options).some((name) => name !== 'include_usage')
      ? { stream_options: { ...stream_options, include_usage: true } }
      : {}),
  }
}

describe.skipIf(!hasTranscripts)('recorded requests', () => {
  const asked = recorded()

  test('there are some of many providers', () => {
    expect(asked.length).toBeGreaterThan(60)
    expect(new Set(asked.map(({ vendor }) => vendor)).size).toBeGreaterThan(12)
  })

  test.each(asked.map(({ name, vendor, request }) => [name, vendor, request] as const))(
    '%s',
    (_name, vendor, recording) => {
      // The gateway has no compression of conversations, and rejects a request for it.
      const { transforms: _transforms, ...request } = recording
      const { body, dropped } = chatEgress.build(chatIngress.parse(request, new Headers()), attemptAt(vendor))
      expect(same(body)).toEqual(same(request))
      expect(body['model']).toBe('the-model')
      expect(GATEWAYS_OWN.filter((field) => Object.hasOwn(body, field))).toEqual([])
      expect(dropped).toEqual([])
    },
  )
})
