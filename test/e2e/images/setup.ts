/** Providers that make images: by OpenAI's routes, in a conversation, by Gemini and by Imagen. */
import { gatewayOfFile, lastRowOf, openaiOf, queuedUpstream, readForm } from '../../file-setup.ts'

/** One pixel. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
export const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3, 4]).toString('base64')
export const DATA_URL = `data:image/png;base64,${PNG}`
const paints = { architecture: { output_modalities: ['image'] } }
const speaks = { architecture: { output_modalities: ['image', 'text'] } }

/** Files that a reply may name. */
function fileAt(path: string): Response | null {
  if (path.endsWith('.png')) return new Response(Buffer.from(PNG, 'base64'))
  return path.endsWith('.txt') ? new Response('no image') : null
}

export async function startForImages() {
  const upstream = queuedUpstream(readForm, fileAt)
  const gateway = await gatewayOfFile(
    {
      listens: true,
      providers: [
        {
          slug: 'lab',
          name: 'Lab',
          base_url: `${upstream.origin}/v1`,
          models: [
            { id: 'gpt-image-1', ...paints, pricing: { prompt: '0.000005', completion: '0.00004' } },
            { id: 'brush', ...paints, pricing: { image: '0.04' } },
            { id: 'grok-brush', ...paints, pricing: { image: '0.07' } },
            { id: 'talking', ...speaks, pricing: { prompt: '0.000001', completion: '0.00003' } },
            { id: 'words', architecture: { output_modalities: ['text'] }, pricing: { prompt: '0.000001' } },
          ],
        },
        {
          slug: 'goo',
          name: 'Goo',
          dialect: 'gemini',
          base_url: `${upstream.origin}/v1beta`,
          models: [
            { id: 'gemini-brush', ...speaks, pricing: { prompt: '0.0000003', completion: '0.00003' } },
            { id: 'imagen-lab', ...paints, pricing: { image: '0.02' } },
          ],
        },
      ],
    },
    upstream,
  )
  return {
    upstream,
    gateway,
    client: openaiOf(gateway),
    ask: (body: object) => gateway.call('/images', { prompt: 'a boat', ...body }),
    lastRow: lastRowOf(gateway),
  }
}

export const made =
  (data: unknown[], more: object = {}) =>
  (): Response =>
    Response.json({ created: 1, data, ...more })
export const USAGE = {
  input_tokens: 20,
  output_tokens: 300,
  total_tokens: 320,
  input_tokens_details: { text_tokens: 12, image_tokens: 8 },
}
