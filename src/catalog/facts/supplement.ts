import type { FactModel } from './document.ts'

type Cost = Readonly<Record<string, number>>

/**
 * Models that the facts lack, or have no price for, and that clients ask for by name. By provider; facts that tell a
 * price hold before these. USD per million tokens or characters, per second, per thousand searches, as the provider
 * lists them.
 */
export const supplement: Readonly<Record<string, readonly FactModel[]>> = {
  cohere: [ours('rerank-v3.5', 'Rerank 3.5', '2024-12-02', ['text'], 'rerank', { request: 2 }, 4096)],
  mistral: [
    // https://mistral.ai/pricing, read in November 2026: a thousand pages.
    ours('mistral-ocr-latest', 'Mistral OCR', '2025-12-15', ['file', 'image'], 'ocr', { request: 2 }),
    ours('mistral-moderation-latest', 'Mistral Moderation', '2024-11-07', ['text'], 'moderation', {
      input: 0.1,
    }),
  ],
  openai: [
    ours('omni-moderation-latest', 'Omni Moderation', '2024-09-26', ['text', 'image'], 'moderation', {}),
    ours('tts-1', 'TTS 1', '2023-11-06', ['text'], 'speech', { input_character: 15 }),
    ours('tts-1-hd', 'TTS 1 HD', '2023-11-06', ['text'], 'speech', { input_character: 30 }),
    ours('gpt-4o-mini-tts', 'GPT-4o mini TTS', '2025-03-20', ['text'], 'speech', {
      input: 0.6,
      output: 12,
      output_audio: 12,
    }),
    ours('whisper-1', 'Whisper', '2023-03-01', ['audio'], 'transcription', { audio_second: 0.0001 }),
    ours('gpt-4o-transcribe', 'GPT-4o Transcribe', '2025-03-20', ['audio', 'text'], 'transcription', {
      input: 2.5,
      output: 10,
      input_audio: 6,
    }),
    ours(
      'gpt-4o-mini-transcribe',
      'GPT-4o mini Transcribe',
      '2025-03-20',
      ['audio', 'text'],
      'transcription',
      {
        input: 1.25,
        output: 5,
        input_audio: 3,
      },
    ),
    painter('gpt-image-1', '2025-04-24', { input: 5, input_image: 10, cache_read: 1.25, output: 40 }),
    painter('gpt-image-1-mini', '2025-09-26', { input: 2, input_image: 2.5, cache_read: 0.2, output: 8 }),
    painter('gpt-image-1.5', '2025-11-25', { input: 5, input_image: 8, cache_read: 1.25, output: 32 }),
    painter('chatgpt-image-latest', '2025-12-16', { input: 5, input_image: 8, cache_read: 1.25, output: 32 }),
  ],
}

function painter(id: string, releaseDate: string, cost: Cost): FactModel {
  return ours(id, id, releaseDate, ['text', 'image'], 'image', cost)
}

function ours(
  id: string,
  name: string,
  releaseDate: string,
  input: readonly string[],
  output: string,
  cost: Cost,
  context: number | null = null,
): FactModel {
  return {
    id,
    name,
    baseModel: null,
    releaseDate,
    updated: null,
    knowledge: null,
    reasoning: false,
    efforts: [],
    takesReasoningBudget: false,
    mayStopReasoning: false,
    takesTemperature: false,
    callsTools: false,
    structuredOutput: null,
    openWeights: false,
    input: [...input],
    output: [output],
    context,
    maxOutput: null,
    cost: { input: 0, output: 0, ...cost },
    deprecated: false,
    override: null,
  }
}
