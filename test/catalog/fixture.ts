/** Two providers with a few models: `lab` on this machine, `cloud` elsewhere. */
export const providers = [
  {
    slug: 'lab',
    name: 'The Lab',
    base_url: 'http://127.0.0.1:9/v1',
    models: [
      {
        id: 'maker/small',
        name: 'Maker: Small One',
        context_length: 8000,
        max_completion_tokens: 1000,
        architecture: { input_modalities: ['text'], output_modalities: ['text'] },
        supported_parameters: ['tools', 'temperature'],
        pricing: { prompt: '0.000001', completion: '0.000002', input_cache_read: '0.0000001' },
      },
      {
        id: 'shared/large',
        name: 'Shared: Large & <wide>',
        context_length: 200_000,
        architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
        supported_parameters: ['tools', 'response_format'],
        pricing: { prompt: '0.000003', completion: '0.000006' },
        quantization: 'fp8',
      },
      {
        id: 'maker/embedder',
        context_length: 512,
        architecture: { input_modalities: ['text'], output_modalities: ['embeddings'] },
        pricing: { prompt: '0.0000001', completion: '0' },
      },
      { id: 'bare' },
    ],
  },
  {
    slug: 'cloud',
    name: 'Cloud Nine',
    base_url: 'https://cloud.example.com/v1',
    api_key: 'k',
    models: [
      {
        id: 'shared/large',
        context_length: 100_000,
        architecture: { input_modalities: ['text'], output_modalities: ['text'] },
        supported_parameters: ['tools', 'tool_choice', 'seed'],
        pricing: { prompt: '0.000002', completion: '0.000004' },
      },
      {
        id: 'painter/brush-2',
        architecture: { input_modalities: ['text', 'image'], output_modalities: ['image'] },
        pricing: { prompt: '0.000005', completion: '0.00004', image: '0.01' },
      },
      {
        id: 'speaker/llama-9-voice',
        context_length: 32_000,
        architecture: { input_modalities: ['text', 'audio'], output_modalities: ['text', 'audio'] },
        supported_parameters: ['temperature'],
        pricing: { prompt: '0.00001', completion: '0.00002', request: '0.005' },
      },
    ],
  },
]
