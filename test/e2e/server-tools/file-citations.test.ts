/** What an answer cites of the files that file_search found, in the words of each dialect. */
import { expect, test } from 'bun:test'
import { gatewayOfFile } from '../../file-setup.ts'
import { startUpstream } from '../../upstream.ts'
import { calls, says, uploadTo } from './setup.ts'

const upstream = startUpstream()
const pricing = { prompt: '0', completion: '0' }
const entry = { base_url: upstream.baseUrl }
const gateway = await gatewayOfFile(
  {
    listens: true,
    providers: [
      { slug: 'lab', dialect: 'chat', ...entry, models: [{ id: 'tiny', pricing }] },
      { slug: 'maker', dialect: 'messages', ...entry, models: [{ id: 'claude', pricing }] },
    ],
  },
  upstream,
)
const CLAUDE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [{ type: 'text', text: 'Yes.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
}

test('Messages and Gemini: a link to the file is a citation of it in their own words', async () => {
  const id = await uploadTo(gateway, 'handbook.txt', 'The aquarium is fed on Tuesdays.')
  const link = `[handbook](${id})`
  const script = () =>
    upstream.inTurn('tiny', [
      calls([{ name: 'file_search', args: { query: 'aquarium' } }]),
      says(`Tuesdays, says the ${link}.`),
    ])
  script()
  const tools = [{ type: 'openrouter:file_search' }]
  const body = { model: 'tiny', max_tokens: 100, messages: [{ role: 'user', content: 'When?' }], tools }
  const { content } = await (await gateway.call('/messages', body)).json()
  expect(content.at(-1).citations).toEqual([
    {
      type: 'search_result_location',
      source: id,
      title: 'handbook.txt',
      cited_text: 'The aquarium is fed on Tuesdays.',
      search_result_index: 0,
      start_block_index: 0,
      end_block_index: 1,
    },
  ])
  const replayed = [...body.messages, { role: 'assistant', content }, { role: 'user', content: 'Sure?' }]
  upstream.inTurn('claude', [() => Response.json(CLAUDE)])
  const again = await gateway.call('/messages', { ...body, model: 'claude', tools: [], messages: replayed })
  expect(again.status, await again.text()).toBe(200)
  expect(JSON.stringify(upstream.seen.at(-1)?.body['messages'])).not.toContain('search_result_location')
  script()
  const asked = { contents: [{ role: 'user', parts: [{ text: 'When?' }] }], tools }
  const { candidates } = await (await gateway.call('/models/tiny:generateContent', asked)).json()
  const startIndex = 'Tuesdays, says the '.length
  expect(candidates[0].groundingMetadata).toEqual({
    groundingChunks: [
      {
        retrievedContext: {
          uri: id,
          title: 'handbook.txt',
          text: 'The aquarium is fed on Tuesdays.',
        },
      },
    ],
    groundingSupports: [
      {
        segment: { startIndex, endIndex: startIndex + link.length, text: link },
        groundingChunkIndices: [0],
      },
    ],
  })
})
