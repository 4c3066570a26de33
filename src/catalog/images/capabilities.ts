import type { DialectName } from '../../core/events.ts'
import type { OfferedEndpoint } from '../listing.ts'

/** What a parameter of POST /images may be, as the API describes it. */
export type Descriptor =
  | { readonly type: 'enum'; readonly values: readonly string[] }
  | { readonly type: 'range'; readonly min: number; readonly max: number }
  | { readonly type: 'boolean' }

export interface ImageCapabilities {
  readonly parameters: Readonly<Record<string, Descriptor>>
  /** Streams drafts or text before the image. */
  readonly streams: boolean
  /** Fields that go to the provider as they are. */
  readonly passthrough: readonly string[]
}

const oneOf = (...values: readonly string[]): Descriptor => ({ type: 'enum', values })
const range = (min: number, max: number): Descriptor => ({ type: 'range', min, max })
const BOOLEAN: Descriptor = { type: 'boolean' }
const TIERS = ['512', '1K', '2K', '4K']
const SHAPES = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']

interface Family {
  readonly names: RegExp
  readonly capabilities: ImageCapabilities
}

/**
 * The parameters of POST /images that reach the models of a family, as the writers in `dialects/chat/image-family.ts` send
 * them. Sizes in pixels are listed if the model has a few; otherwise any size is passed on.
 */
const families: readonly Family[] = [
  {
    names: /gpt-image|chatgpt-image/i,
    capabilities: {
      parameters: {
        n: range(1, 10),
        size: oneOf('auto', '1024x1024', '1536x1024', '1024x1536'),
        aspect_ratio: oneOf('auto', '1:1', '3:2', '2:3'),
        quality: oneOf('auto', 'low', 'medium', 'high'),
        background: oneOf('auto', 'transparent', 'opaque'),
        output_format: oneOf('png', 'jpeg', 'webp'),
        output_compression: range(0, 100),
      },
      streams: true,
      passthrough: ['input_fidelity', 'moderation', 'partial_images'],
    },
  },
  {
    names: /dall-e-2/i,
    capabilities: {
      parameters: { n: range(1, 10), size: oneOf('256x256', '512x512', '1024x1024') },
      streams: false,
      passthrough: [],
    },
  },
  {
    names: /dall-e/i,
    capabilities: {
      parameters: {
        n: range(1, 1),
        size: oneOf('1024x1024', '1792x1024', '1024x1792'),
        quality: oneOf('auto', 'standard', 'hd'),
      },
      streams: false,
      passthrough: ['style'],
    },
  },
  {
    names: /grok/i,
    capabilities: {
      parameters: { n: range(1, 10), aspect_ratio: oneOf('auto', ...SHAPES), resolution: oneOf('1K', '2K') },
      streams: false,
      passthrough: [],
    },
  },
]

const OTHERS: ImageCapabilities = {
  parameters: {
    n: range(1, 10),
    aspect_ratio: oneOf('auto', ...SHAPES),
    resolution: oneOf(...TIERS),
    seed: BOOLEAN,
  },
  streams: false,
  passthrough: [],
}

const IMAGEN: ImageCapabilities = {
  parameters: {
    n: range(1, 4),
    aspect_ratio: oneOf('1:1', '3:4', '4:3', '9:16', '16:9'),
    resolution: oneOf('1K', '2K'),
    output_format: oneOf('png', 'jpeg'),
    output_compression: range(0, 100),
    seed: BOOLEAN,
  },
  streams: false,
  passthrough: [],
}

const CONVERSATION: ImageCapabilities = {
  parameters: {
    n: range(1, 1),
    aspect_ratio: oneOf('auto', ...SHAPES),
    resolution: oneOf('1K', '2K', '4K'),
    seed: BOOLEAN,
  },
  streams: true,
  passthrough: [],
}

/** Models that only image routes serve, although the metadata of some has text output too. */
const NEVER_SPEAKS = /gpt-image|chatgpt-image|dall-e|imagen|flux/i
const MOST_REFERENCES = 16

/** The known parameters of POST /images for this endpoint. */
export function capabilitiesOf({ record, provider }: OfferedEndpoint): ImageCapabilities {
  const known = spokenTo(record.dialects?.[0] ?? provider.dialect, record)
  if (!record.inputModalities.includes('image') || known === IMAGEN) return known
  return { ...known, parameters: { ...known.parameters, input_references: range(0, MOST_REFERENCES) } }
}

function spokenTo(
  dialect: DialectName,
  { upstreamId, outputModalities }: OfferedEndpoint['record'],
): ImageCapabilities {
  if (dialect === 'gemini') return /imagen/i.test(upstreamId) ? IMAGEN : CONVERSATION
  if (outputModalities.includes('text') && !NEVER_SPEAKS.test(upstreamId)) return CONVERSATION
  return families.find(({ names }) => names.test(upstreamId))?.capabilities ?? OTHERS
}

/** What any of them takes: words of all, the widest range. */
export function supersetOf(all: readonly ImageCapabilities[]): Record<string, Descriptor> {
  const merged: Record<string, Descriptor> = {}
  for (const { parameters } of all) {
    for (const [name, descriptor] of Object.entries(parameters)) {
      const known = merged[name]
      merged[name] = known === undefined ? descriptor : union(known, descriptor)
    }
  }
  return merged
}

function union(left: Descriptor, right: Descriptor): Descriptor {
  if (left.type === 'enum' && right.type === 'enum')
    return oneOf(...new Set([...left.values, ...right.values]))
  if (left.type === 'range' && right.type === 'range')
    return range(Math.min(left.min, right.min), Math.max(left.max, right.max))
  return left
}
