/** Models at three providers with known facts, for the query table of GET /models. Prices are USD per million tokens. */

export const DAY = 86_400_000
export const now = Date.parse('2026-01-11T00:00:00Z')

interface Place {
  at: 'lab' | 'cloud' | 'euro'
  context: number
  takes: string[]
  parameters: string[]
  prompt: number
  completion: number
  zdr?: boolean
  regions?: ('eu' | 'us')[]
  distillable?: boolean
  latency?: number
  speed?: number
}
interface Model {
  id: string
  name: string
  gives: string[]
  /** Unix seconds; 0: unknown. */
  created: number
  tokenizer?: string
  scores?: Record<string, number | string[]>
  requests?: { today: number; twoWeeksAgo: number }
  places: Place[]
}

const PROVIDER_NAMES = { lab: 'The Lab', cloud: 'Cloud Nine', euro: 'Euro Host', sluice: 'Sluice' }
export const models: Model[] = [
  {
    id: 'acme/alpha-1',
    name: 'Acme: Alpha 1',
    gives: ['text'],
    created: 0,
    scores: { intelligence_index: 40, coding_index: 20, design_arena_elo: 1000, categories: ['programming'] },
    requests: { today: 5, twoWeeksAgo: 0 },
    places: [
      {
        at: 'lab',
        context: 8_000,
        takes: ['text'],
        parameters: ['tools', 'seed'],
        prompt: 1,
        completion: 2,
        latency: 900,
        speed: 10,
      },
      {
        at: 'cloud',
        context: 128_000,
        takes: ['text', 'image'],
        parameters: ['tools'],
        prompt: 3,
        completion: 4,
        zdr: true,
        latency: 200,
        speed: 90,
      },
      {
        at: 'euro',
        context: 64_000,
        takes: ['text'],
        parameters: ['seed'],
        prompt: 2,
        completion: 2,
        zdr: true,
        regions: ['eu'],
        distillable: true,
      },
    ],
  },
  {
    id: 'acme/beta-2',
    name: 'Acme: Beta 2',
    gives: ['text', 'audio'],
    created: 0,
    scores: {
      intelligence_index: 40,
      agentic_index: 9,
      tool_success_rate: 0.5,
      categories: ['legal', 'programming'],
    },
    requests: { today: 1, twoWeeksAgo: 9 },
    places: [
      {
        at: 'cloud',
        context: 32_000,
        takes: ['text', 'audio'],
        parameters: ['temperature'],
        prompt: 10,
        completion: 20,
        regions: ['us'],
        distillable: false,
        latency: 200,
      },
    ],
  },
  {
    id: 'other/alpha-embed',
    name: 'Other: Embed',
    gives: ['embeddings'],
    created: 0,
    places: [
      {
        at: 'euro',
        context: 512,
        takes: ['text'],
        parameters: [],
        prompt: 0.1,
        completion: 0,
        zdr: true,
        regions: ['eu'],
      },
    ],
  },
  {
    id: 'other/brush',
    name: 'Other: Brush',
    gives: ['image'],
    created: 0,
    scores: { design_arena_elo: 1300 },
    places: [
      {
        at: 'cloud',
        context: 4_000,
        takes: ['text', 'image'],
        parameters: ['seed'],
        prompt: 5,
        completion: 40,
      },
    ],
  },
  {
    // In the catalogue, which has its age and its tokenizer.
    id: 'openai/gpt-4o',
    name: 'OpenAI: GPT-4o',
    gives: ['text'],
    created: Date.parse('2024-05-13') / 1000,
    tokenizer: 'GPT',
    scores: { intelligence_index: 30, coding_index: 50, tool_success_rate: 0.9 },
    requests: { today: 5, twoWeeksAgo: 1 },
    places: [
      {
        at: 'cloud',
        context: 128_000,
        takes: ['text', 'image', 'file'],
        parameters: ['tools', 'seed', 'temperature'],
        prompt: 2.5,
        completion: 10,
        speed: 90,
      },
      {
        at: 'euro',
        context: 128_000,
        takes: ['text'],
        parameters: ['tools'],
        prompt: 3,
        completion: 12,
        zdr: true,
        regions: ['eu', 'us'],
        distillable: false,
      },
    ],
  },
  {
    id: 'zeta/llama-9-free',
    name: 'Zeta: Llama 9',
    gives: ['text'],
    created: 0,
    places: [
      { at: 'lab', context: 8_000, takes: ['text'], parameters: ['temperature'], prompt: 0, completion: 0 },
    ],
  },
]
/** Servers on this machine retain nothing; the gateway's own model is there too. */
const isZdr = ({ at, zdr }: Place): boolean => zdr ?? at === 'lab'

const demo = {
  id: 'sluice/demo',
  name: 'Sluice: Demo',
  gives: ['text'],
  created: Date.parse('2026-01-01') / 1000,
  tokenizer: undefined,
  scores: undefined,
  requests: undefined,
  places: [
    {
      at: 'sluice' as const,
      context: 1_048_576,
      takes: ['text', 'image', 'file', 'audio', 'video'],
      parameters: [],
      prompt: 0,
      completion: 0,
      zdr: true,
      distillable: true,
    },
  ],
}
export type Any = Omit<Model, 'places'> & {
  places: (Omit<Place, 'at'> & { at: keyof typeof PROVIDER_NAMES })[]
}
export const ALL: Any[] = [...models, demo].sort((left, right) => (left.id < right.id ? -1 : 1))
export type AnyPlace = Any['places'][number]
export const retainsNothing = (place: AnyPlace): boolean => place.zdr ?? place.at === 'lab'

const usd = (perMillion: number): string => (perMillion / 1_000_000).toFixed(9)
export const entryOf = (slug: Place['at']) => ({
  slug,
  name: PROVIDER_NAMES[slug],
  base_url: slug === 'lab' ? 'http://127.0.0.1:9/v1' : `https://${slug}.example.com/v1`,
  models: models.flatMap(({ id, name, gives, places }) =>
    places
      .filter(({ at }) => at === slug)
      .map((place) => ({
        id,
        name,
        context_length: place.context,
        architecture: { input_modalities: place.takes, output_modalities: gives },
        supported_parameters: place.parameters,
        pricing: { prompt: usd(place.prompt), completion: usd(place.completion) },
      })),
  ),
})
export const overrides = models.flatMap(({ id, places }) =>
  places.map((place) => ({
    id,
    provider: place.at,
    zdr: isZdr(place),
    ...(place.regions === undefined ? {} : { regions: place.regions }),
    ...(place.distillable === undefined ? {} : { distillable: place.distillable }),
  })),
)
