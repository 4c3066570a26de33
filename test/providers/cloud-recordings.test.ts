import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../src/core/events.ts'
import { isObject } from '../../src/core/json.ts'
import { environmentProviders } from '../../src/providers/environment.ts'
import { providers } from '../../src/providers/index.ts'
import { hasTranscripts, TRANSCRIPTS } from '../recordings.ts'
import { defaults } from './defaults.ts'
import { freshToken, outboundAt } from './token-endpoint.ts'

/**
 * The gateway calls Azure and Vertex at the addresses that recorded clients have called. Differences:
 *
 * | they | we | because |
 * |---|---|---|
 * | Foundry's `/models/chat/completions?api-version=…` | `/openai/v1/chat/completions` | its newer address for the same models |
 * | Vertex's `v1beta1` | `v1` | the fields sent are in both |
 * | `$alt=json;enum-encoding=int` | nothing | enums come as words, too |
 */

interface Called {
  url: string
  body: JsonObject
}

function callsIn(folder: string): [name: string, called: Called][] {
  if (!hasTranscripts) return []
  return readdirSync(join(TRANSCRIPTS, folder))
    .filter((file) => file.endsWith('.http.json'))
    .sort()
    .flatMap((file) => {
      const cassette: { interactions: { url: string; request_json?: unknown }[] } = JSON.parse(
        readFileSync(join(TRANSCRIPTS, folder, file), 'utf8'),
      )
      return cassette.interactions.map(({ url, request_json: body }, i): [string, Called] => [
        `${file}#${i}`,
        { url, body: isObject(body) ? body : {} },
      ])
    })
}

async function urlOf(environment: Record<string, string>, path: string, body: JsonObject): Promise<string> {
  const { providers: found, problems } = environmentProviders(environment, defaults)
  expect(problems).toEqual([])
  const [provider] = found
  const credential = provider?.credentials[0]
  if (!provider || !credential) throw new Error('nothing is turned on')
  const send = async () => {
    const response = freshToken(1)
    return {
      status: 200,
      headers: new Headers(),
      bytes: (async function* () {})(),
      text: () => response.text(),
      beginning: () => response.text(),
    }
  }
  const call = { path, headers: {}, body }
  const outbound = outboundAt({ now: 1_700_000_000_000 }, send)
  return (await providers[provider.kind].prepare(provider, credential, call, outbound)).url
}

describe.skipIf(!hasTranscripts)('Azure', () => {
  test.each(callsIn('azure'))('%s', async (_, { url, body }) => {
    const { origin, pathname, searchParams } = new URL(url)
    const deployment = /\/deployments\/([^/]+)\//.exec(pathname)?.[1]
    const path = pathname.replace(/^.*\/(?:deployments\/[^/]+|models|v1)(?=\/)/, '')
    const version = deployment === undefined ? null : searchParams.get('api-version')
    const environment = {
      AZURE_OPENAI_API_KEY: 'k',
      AZURE_OPENAI_ENDPOINT: origin,
      ...(version === null ? {} : { AZURE_OPENAI_API_VERSION: version }),
    }
    const model = deployment ?? String(body.model)
    const expected = deployment === undefined ? `${origin}/openai/v1${path}` : url
    expect(await urlOf(environment, path, { ...body, model })).toBe(expected)
  })
})

const USER = { type: 'authorized_user', client_id: 'c', client_secret: 's', refresh_token: 'r' }

describe.skipIf(!hasTranscripts)('Vertex', () => {
  test.each(callsIn('vertex'))('%s', async (_, { url, body }) => {
    const { pathname, searchParams } = new URL(url)
    const [, project = '', location = '', model = '', method = ''] =
      /\/projects\/([^/]+)\/locations\/([^/]+)\/publishers\/google\/models\/([^:]+):(\w+)$/.exec(pathname) ??
      []
    const environment = {
      GOOGLE_SERVICE_ACCOUNT_JSON: JSON.stringify(USER),
      GOOGLE_CLOUD_PROJECT: project,
      GOOGLE_CLOUD_LOCATION: location,
    }
    const query = searchParams.get('alt') === 'sse' ? '?alt=sse' : ''
    const expected = url.replace('/v1beta1/', '/v1/').replace(/\?.*$/, '') + query
    expect(await urlOf(environment, `/models/${model}:${method}${query}`, body)).toBe(expected)
  })
})
