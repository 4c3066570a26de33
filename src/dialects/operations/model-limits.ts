import type { EmbeddingsRequest, ImagesRequest, TranscriptionRequest } from '../../core/operation.ts'
import type { EndpointRecord, ProviderRecord } from '../../core/snapshot.ts'

/**
 * What models and vendors cannot do, from the documents that each table names (read 2026-11-23). Each function completes
 * "<provider> …"; null: nothing is known against the request.
 */

/**
 * The lengths of vectors that a model makes: a list, or the most; an empty list: it takes no `dimensions`. Sources: OpenAI's
 * and Mistral's API references (`dimensions`, `output_dimension`), Cohere's (`output_dimension`: embed-v4 and newer),
 * ai.google.dev/gemini-api/docs/models/gemini-embedding-001, docs.voyageai.com/embeddings.
 */
const VECTORS: readonly (readonly [names: RegExp, lengths: number | readonly number[]])[] = [
  [/text-embedding-ada-002|\bmistral-embed|embed-(?:english|multilingual)-(?:light-)?v[23]/i, []],
  [/text-embedding-3-small/i, 1_536],
  [/text-embedding-3-large|gemini-embedding|codestral-embed/i, 3_072],
  [/\bembed-v4/i, [256, 512, 1_024, 1_536]],
  [/voyage-(?:4|3-large|3\.5|code-3)/i, [256, 512, 1_024, 2_048]],
  [/voyage-(?:3$|(?:finance|law|multilingual)-2)/i, [1_024]],
  [/voyage-3-lite/i, [512]],
  [/voyage-code-2/i, [1_536]],
]

export function vectorLimit(
  { dimensions }: EmbeddingsRequest,
  { upstreamId }: EndpointRecord,
): string | null {
  if (dimensions === undefined) return null
  const lengths = VECTORS.find(([names]) => names.test(upstreamId))?.[1]
  if (lengths === undefined) return null
  if (typeof lengths === 'number')
    return dimensions <= lengths
      ? null
      : `makes vectors of at most ${lengths} numbers with ${upstreamId}, and "dimensions" is ${dimensions}`
  if (lengths.includes(dimensions)) return null
  return lengths.length === 0
    ? `takes no "dimensions" for ${upstreamId}`
    : `makes vectors of ${lengths.join(', ')} numbers with ${upstreamId}, and "dimensions" is ${dimensions}`
}

interface ImageLimit {
  readonly names: RegExp
  /** Absent: any that `isFreeSize` accepts. */
  readonly sizes?: readonly string[]
  readonly most: number
  readonly takesImages?: false
}

/** Source: OpenAI's API reference, `size` and `n` of images/generations and images/edits. */
const IMAGES: readonly ImageLimit[] = [
  { names: /dall-e-2/i, sizes: ['256x256', '512x512', '1024x1024'], most: 10 },
  { names: /dall-e-3/i, sizes: ['1024x1024', '1792x1024', '1024x1792'], most: 1, takesImages: false },
  { names: /gpt-image-1(?:\.5|-mini)?$/i, sizes: ['1024x1024', '1536x1024', '1024x1536'], most: 10 },
  { names: /gpt-image-2/i, most: 10 },
]
const FREE_SIZES =
  'sizes that are multiples of 16, from 1:3 to 3:1, with edges of at most 3840 and 8,294,400 pixels'

/**
 * `gpt-image-2` and later: sides divisible by 16, an aspect of at most 3, and at most 3840x2160. Sizes in other words (`2K`,
 * which resellers take) are not judged.
 */
function isFreeSize(size: string): boolean {
  const [width = Number.NaN, height = Number.NaN] = size.split('x').map(Number)
  const [short, long] = [Math.min(width, height), Math.max(width, height)]
  if (Number.isNaN(short)) return true
  return (
    short > 0 &&
    width % 16 === 0 &&
    height % 16 === 0 &&
    long <= 3 * short &&
    long <= 3_840 &&
    short * long <= 3_840 * 2_160
  )
}

export function imageLimit(request: ImagesRequest, { upstreamId }: EndpointRecord): string | null {
  const known = IMAGES.find(({ names }) => names.test(upstreamId))
  if (known === undefined) return null
  const { sizes, most, takesImages } = known
  const { size, count, references, mask } = request
  if (takesImages === false && (references.length > 0 || mask))
    return `makes images from words alone with ${upstreamId}`
  if (count > most)
    return `makes at most ${most} image${most === 1 ? '' : 's'} at a time with ${upstreamId}, and "n" is ${count}`
  if (size === undefined || size === 'auto') return null
  if (sizes === undefined ? isFreeSize(size) : sizes.includes(size)) return null
  return `makes images of ${sizes?.join(', ') ?? FREE_SIZES} with ${upstreamId}, and "size" is ${size}`
}

/** They answer in plain JSON alone (OpenAI's API reference, `response_format` of audio/transcriptions). */
const PLAIN_TRANSCRIPTIONS = /gpt-4o(?:-mini)?-transcribe/i

export function transcriptionLimit(
  { format, audio: { content, name } }: TranscriptionRequest,
  { upstreamId }: EndpointRecord,
  { quirks: { recordings } }: ProviderRecord,
): string | null {
  if (format === 'verbose_json' && PLAIN_TRANSCRIPTIONS.test(upstreamId))
    return `answers in plain JSON alone with ${upstreamId}: set "response_format" to json`
  if (recordings === undefined) return null
  if (content.size > recordings.mostBytes)
    return `takes recordings of at most ${recordings.mostBytes / 1_000_000} MB, and this one has ${(content.size / 1_000_000).toFixed(1)} MB`
  const extension = /\.([a-z0-9]{1,10})$/i.exec(name)?.[1]?.toLowerCase()
  return extension === undefined || recordings.formats.includes(extension)
    ? null
    : `takes recordings as ${recordings.formats.join(', ')}, and not as ${extension}`
}
