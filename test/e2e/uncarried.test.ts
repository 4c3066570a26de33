import { expect, test } from 'bun:test'
import { answer, SPOKEN } from '../../scripts/differential/replies.ts'
import type { DialectName } from '../../src/core/events.ts'
import { gatewayOfFile, providersAt, queuedUpstream, readJson } from '../file-setup.ts'

/** Uncommon fields of each API before providers of every dialect: carried, named in the metadata, or refused. */

const upstream = queuedUpstream(readJson)
const provider = providersAt(upstream.origin)
const gateway = await gatewayOfFile(
  {
    providers: SPOKEN.map((dialect) =>
      provider(dialect, dialect, '/v1', [{ id: `m-${dialect}`, pricing: { prompt: '0', completion: '0' } }]),
    ),
  },
  upstream,
)

type Fields = Record<string, unknown>
/** What the metadata names before providers of these dialects. */
type Lost = readonly [to: readonly DialectName[], names: readonly string[]]
type Row = readonly [title: string, fields: Fields, lost: Lost, headers?: Record<string, string>]

const HI = { role: 'user', content: 'Hi' }
const withTurn = (turn: Fields): Fields => ({ messages: [HI, { role: 'assistant', ...turn }, HI] })
const exceptFor = (...own: DialectName[]): DialectName[] => SPOKEN.filter((name) => !own.includes(name))
const OTHERS = { chat: exceptFor('chat'), messages: exceptFor('messages'), gemini: exceptFor('gemini') }

const CHAT: readonly Row[] = [
  ['prediction', { prediction: { type: 'content', content: 'x' } }, [OTHERS.chat, ['prediction']]],
  ['logit_bias', { logit_bias: { '12': 5 } }, [OTHERS.chat, ['logit_bias']]],
  ['functions', { functions: [{ name: 'f' }] }, [OTHERS.chat, ['functions']]],
  ['enable_thinking: false', { enable_thinking: false }, [OTHERS.chat, ['enable_thinking']]],
  ['store: false', { store: false }, [SPOKEN, []]],
  [
    'web_search_options',
    { web_search_options: {} },
    [['messages', 'converse', 'cohere'], ['web_search_options']],
  ],
  [
    'modalities',
    { modalities: ['text', 'audio'] },
    [['responses', 'messages', 'converse', 'cohere'], ['modalities']],
  ],
  [
    'safety_identifier',
    { safety_identifier: 's' },
    [['messages', 'gemini', 'converse', 'cohere'], ['safety_identifier']],
  ],
  [
    'cache_control',
    { cache_control: { type: 'ephemeral' } },
    [['responses', 'gemini', 'converse', 'cohere'], ['cache_control']],
  ],
  ['a prefix', withTurn({ content: 'Well', prefix: true }), [OTHERS.chat, ['messages.prefix']]],
  ['former audio', withTurn({ audio: { id: 'audio_1' } }), [OTHERS.chat, ['messages.audio']]],
  [
    'an unknown field of a part',
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', kept: 1 }] }] },
    [OTHERS.chat, ['messages.content.kept']],
  ],
  [
    'an unknown field of a tool',
    { tools: [{ type: 'function', function: { name: 'f' }, kept: 1 }] },
    [OTHERS.chat, ['tools.kept']],
  ],
]

const RESPONSES_ONLY = exceptFor('responses')
const RESPONSES: readonly Row[] = [
  ['truncation', { truncation: 'auto' }, [RESPONSES_ONLY, ['truncation']]],
  ['max_tool_calls', { max_tool_calls: 3 }, [RESPONSES_ONLY, ['max_tool_calls']]],
  ['safety_identifier', { safety_identifier: 's' }, [RESPONSES_ONLY, ['safety_identifier']]],
  ['text.verbosity', { text: { verbosity: 'low' } }, [RESPONSES_ONLY, ['text.verbosity']]],
  [
    'include',
    { include: ['web_search_call.action.sources', 'reasoning.encrypted_content'] },
    [RESPONSES_ONLY, ['include.web_search_call.action.sources']],
  ],
  [
    'a phase',
    { input: [HI, { type: 'message', role: 'assistant', phase: 'commentary', content: 'x' }, HI] },
    [['messages', 'gemini', 'converse', 'cohere'], ['messages.phase']],
  ],
  [
    'a compaction of OpenAI',
    { input: [HI, { type: 'compaction', id: 'cmp_1', encrypted_content: 'x' }, HI] },
    [RESPONSES_ONLY, ['content.compaction']],
  ],
]

const MESSAGES: readonly Row[] = [
  ['context_management', { context_management: { edits: [] } }, [OTHERS.messages, ['context_management']]],
  ['container', { container: { skills: [] } }, [OTHERS.messages, ['container']]],
  ['betas', {}, [OTHERS.messages, ['anthropic-beta']], { 'anthropic-beta': 'files-api-2025-04-14' }],
  [
    // Of Claude Code 2.1.330, recorded.
    'thinking.display of a beta',
    { thinking: { type: 'adaptive', display: 'updates' } },
    [OTHERS.messages, ['thinking.display']],
    { 'anthropic-beta': 'thinking-display-updates-2026-08-18' },
  ],
  [
    'memory',
    { tools: [{ type: 'memory_20250818', name: 'memory' }] },
    [OTHERS.messages, ['tools.memory_20250818']],
  ],
  ['cache_control', { cache_control: { type: 'ephemeral' } }, [OTHERS.messages, ['cache_control']]],
  [
    'what an MCP server did',
    withTurn({
      content: [{ type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'x', server_name: 's', input: {} }],
    }),
    [OTHERS.messages, ['mcp_tool_use']],
  ],
  [
    'a compaction of Anthropic',
    withTurn({ content: [{ type: 'compaction', content: 'So far.' }] }),
    [OTHERS.messages, ['compaction']],
  ],
]

const GEMINI: readonly Row[] = [
  ['safetySettings', { safetySettings: [{ category: 'c' }] }, [OTHERS.gemini, ['safetySettings']]],
  ['labels', { labels: { a: 'b' } }, [OTHERS.gemini, ['labels']]],
  [
    'retrievalConfig',
    { toolConfig: { retrievalConfig: { languageCode: 'en' } } },
    [OTHERS.gemini, ['toolConfig.retrievalConfig']],
  ],
]

const APIS = [
  ['/chat/completions', { messages: [HI] }, CHAT],
  ['/responses', { input: [HI] }, RESPONSES],
  ['/messages', { messages: [HI], max_tokens: 2000 }, MESSAGES],
  ['gemini', { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }, GEMINI],
] as const

const ask = async (
  path: string,
  dialect: DialectName,
  body: Fields,
  headers: Record<string, string> = {},
) => {
  const { status, headers: own, body: reply } = answer(dialect)
  upstream.answers = [() => new Response(reply, { status, headers: own })]
  const isGemini = path === 'gemini'
  const response = await gateway.call(
    isGemini ? `/../../v1beta/models/m-${dialect}:generateContent` : path,
    isGemini ? body : { ...body, model: `m-${dialect}` },
    { 'x-service-metadata': 'enabled', ...headers },
  )
  return { status: response.status, reply: await response.json() }
}

const namedIn = ({ service_metadata }: { service_metadata: { params?: Fields } }): unknown[] =>
  [service_metadata.params?.['dropped_parameters'] ?? []].flat()

for (const [path, base, rows] of APIS) {
  test.each([...rows])(`${path}: %s is carried or named`, async (_, fields, [to, names], headers = {}) => {
    for (const dialect of SPOKEN) {
      const { status, reply } = await ask(path, dialect, { ...base, ...fields }, headers)
      expect([dialect, status]).toEqual([dialect, 200])
      const named = namedIn(reply)
      const found = names.filter((name) => named.some((each) => String(each).endsWith(name)))
      expect([dialect, found]).toEqual([dialect, to.includes(dialect) ? [...names] : []])
    }
  })
}

test.each([
  [
    '/responses',
    { input: 'Hi', conversation: 'conv_1' },
    'conversation: no conversations are held here',
    SPOKEN,
  ],
  [
    '/messages',
    { messages: [HI], max_tokens: 9, mcp_servers: [{ type: 'url', name: 's', url: 'https://example.com' }] },
    '"mcp" names a server that the operator has not listed',
    OTHERS.messages,
  ],
  [
    'gemini',
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], cachedContent: 'cachedContents/a' },
    'cachedContent names a cache of Google',
    OTHERS.gemini,
  ],
] as const)(
  '%s: what an answer would be wrong without is refused: %j',
  async (path, body, words, dialects) => {
    for (const dialect of dialects) {
      const { status, reply } = await ask(path, dialect, body)
      expect([dialect, status >= 400 && status < 500]).toEqual([dialect, true])
      expect(reply.error.message).toContain(words)
    }
    expect(upstream.seen).toEqual([])
  },
)

test('a provider of the Gemini API is sent cachedContent', async () => {
  const { status } = await ask('gemini', 'gemini', {
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    cachedContent: 'cachedContents/a',
  })
  expect(status).toBe(200)
  expect(upstream.seen[0]?.body).toMatchObject({ cachedContent: 'cachedContents/a' })
})
