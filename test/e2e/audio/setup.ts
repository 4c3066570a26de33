/** Providers of speech and transcription, with a price by the character, the token and the second. */
import { gatewayOfFile, lastRowOf, openaiOf, queuedUpstream, readForm } from '../../file-setup.ts'

export const speech = { architecture: { output_modalities: ['speech'] } }
const writes = { architecture: { output_modalities: ['transcription'] } }

export async function startForAudio() {
  const upstream = queuedUpstream(readForm)
  const gateway = await gatewayOfFile(
    {
      listens: true,
      providers: [
        {
          slug: 'lab',
          name: 'Lab',
          base_url: `${upstream.origin}/v1`,
          models: [
            { id: 'tts-1', ...speech, pricing: { prompt: '0.000015', completion: '0' } },
            { id: 'by-letter', ...speech, pricing: { input_character: '0.00003' } },
            {
              id: 'by-token',
              ...speech,
              pricing: { prompt: '0.000001', completion: '0.00001', audio_output: '0.00002' },
            },
            {
              id: 'gpt-4o-transcribe',
              ...writes,
              pricing: { prompt: '0.0000025', completion: '0.00001', audio: '0.000006' },
            },
            { id: 'by-second', ...writes, pricing: { audio_second: '0.0001' } },
            { id: 'words', architecture: { output_modalities: ['text'] }, pricing: { prompt: '0.000001' } },
          ],
        },
        {
          slug: 'goo',
          name: 'Goo',
          dialect: 'gemini',
          base_url: `${upstream.origin}/v1beta`,
          models: [{ id: 'gemini-voice', ...speech, pricing: { prompt: '0.000001', completion: '0.00002' } }],
        },
      ],
    },
    upstream,
  )
  return { upstream, gateway, client: openaiOf(gateway), lastRow: lastRowOf(gateway) }
}
