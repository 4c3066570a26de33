/** Where a request can hold an address, in every dialect and operation. */

export type Call = [name: string, path: string, field: string, body: (url: string) => Record<string, unknown>]
export const chat = (content: unknown, more: object = {}) => ({
  model: 'talk',
  messages: [{ role: 'user', content }],
  ...more,
})
export const answers = (input: unknown[], more: object = {}) => ({ model: 'answers', input, ...more })
export const claude = (content: unknown[], more: object = {}) => ({
  model: 'claude',
  max_tokens: 9,
  messages: [{ role: 'user', content }],
  ...more,
})
const PART = 'messages[0].content[0]'
export const CALLS: Call[] = [
  [
    'image_url',
    'chat/completions',
    `${PART}.image_url.url`,
    (url) => chat([{ type: 'image_url', image_url: { url } }]),
  ],
  [
    'short image_url',
    'chat/completions',
    `${PART}.image_url`,
    (url) => chat([{ type: 'image_url', image_url: url }]),
  ],
  [
    'video_url',
    'chat/completions',
    `${PART}.video_url.url`,
    (url) => chat([{ type: 'video_url', video_url: { url } }]),
  ],
  [
    'audio_url',
    'chat/completions',
    `${PART}.audio_url.url`,
    (url) => chat([{ type: 'audio_url', audio_url: { url } }]),
  ],
  ['image', 'chat/completions', `${PART}.image`, (url) => chat([{ type: 'image', image: url }])],
  [
    'file_data',
    'chat/completions',
    `${PART}.file.file_data`,
    (url) => chat([{ type: 'file', file: { file_data: url } }]),
  ],
  [
    'file.url',
    'chat/completions',
    `${PART}.file.url`,
    (url) => chat([{ type: 'file', file: { file_id: 'a', url } }]),
  ],
  [
    'input_audio',
    'chat/completions',
    `${PART}.input_audio.data`,
    (url) => chat([{ type: 'input_audio', input_audio: { data: url, format: 'wav' } }]),
  ],
  [
    'an unknown part',
    'chat/completions',
    `${PART}.payload.deep[0].where`,
    (url) => chat([{ type: 'x', payload: { deep: [{ where: url }] } }]),
  ],
  [
    'beside a known part',
    'chat/completions',
    `${PART}.fallback`,
    (url) => chat([{ type: 'text', text: 'hi', fallback: url }]),
  ],
  [
    'images of an assistant',
    'chat/completions',
    'messages[0].images[0].image_url.url',
    (url) => ({
      model: 'talk',
      messages: [
        { role: 'assistant', content: 'x', images: [{ image_url: { url } }] },
        { role: 'user', content: 'y' },
      ],
    }),
  ],
  [
    'a plain list of images',
    'chat/completions',
    'messages[0].images[0]',
    (url) => ({ model: 'talk', messages: [{ role: 'user', content: 'x', images: [url] }] }),
  ],
  [
    'an unknown field of the body',
    'chat/completions',
    'callback_url',
    (url) => chat('hi', { callback_url: url }),
  ],
  [
    'an option of a plugin',
    'chat/completions',
    'plugins[0].endpoint',
    (url) => chat('hi', { plugins: [{ id: 'web', enabled: false, endpoint: url }] }),
  ],
  [
    'input_image',
    'responses',
    'input[0].content[0].image_url',
    (url) => answers([{ role: 'user', content: [{ type: 'input_image', image_url: url }] }]),
  ],
  [
    'file_url',
    'responses',
    'input[0].content[0].file_url',
    (url) => answers([{ role: 'user', content: [{ type: 'input_file', file_url: url }] }]),
  ],
  [
    'a screenshot',
    'responses',
    'input[1].output.image_url',
    (url) =>
      answers([
        { type: 'computer_call', call_id: 'c', id: 'i', action: { type: 'screenshot' } },
        {
          type: 'computer_call_output',
          call_id: 'c',
          output: { type: 'computer_screenshot', image_url: url },
        },
      ]),
  ],
  [
    'an MCP server',
    'responses',
    'tools[0].server_url',
    (url) =>
      answers([{ role: 'user', content: 'x' }], {
        tools: [{ type: 'mcp', server_label: 'a', server_url: url }],
      }),
  ],
  [
    'source.url of an image',
    'messages',
    `${PART}.source.url`,
    (url) => claude([{ type: 'image', source: { type: 'url', url } }]),
  ],
  [
    'source.url of a document',
    'messages',
    `${PART}.source.url`,
    (url) => claude([{ type: 'document', source: { type: 'url', url } }]),
  ],
  [
    'an image of a tool',
    'messages',
    'messages[2].content[0].content[0].source.url',
    (url) => ({
      model: 'claude',
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't',
              content: [{ type: 'image', source: { type: 'url', url } }],
            },
          ],
        },
      ],
    }),
  ],
  [
    'mcp_servers',
    'messages',
    'mcp_servers[0].url',
    (url) => claude([{ type: 'text', text: 'x' }], { mcp_servers: [{ type: 'url', name: 'a', url }] }),
  ],
  [
    'a count of tokens',
    'messages/count_tokens',
    `${PART}.source.url`,
    (url) => claude([{ type: 'image', source: { type: 'url', url } }]),
  ],
  [
    'embeddings',
    'embeddings',
    'input[0].content[0].image_url.url',
    (url) => ({ model: 'vectors', input: [{ content: [{ type: 'image_url', image_url: { url } }] }] }),
  ],
  [
    "Google's fileUri",
    'models/talk:generateContent',
    'contents[0].parts[0].fileData.fileUri',
    (url) => ({
      contents: [{ role: 'user', parts: [{ fileData: { mimeType: 'image/png', fileUri: url } }] }],
    }),
  ],
]
