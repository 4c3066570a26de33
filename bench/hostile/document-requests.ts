import { hostileDocuments } from './documents.ts'
import { API, type Shape } from './shape.ts'

/** Each hostile document as a file of a conversation, which the gateway reads as text. They have one size. */
export const documentRequests: readonly Shape[] = hostileDocuments.map(({ name, bytes }) => ({
  name: `document: ${name}`,
  path: `${API}/chat/completions`,
  body: () =>
    JSON.stringify({
      model: 'chat-text-plain',
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'file',
              file: { filename: 'a', file_data: `data:;base64,${bytes().toString('base64')}` },
            },
          ],
        },
      ],
      plugins: [{ id: 'file-parser', pdf: { engine: 'pdf-text' } }],
    }),
}))
