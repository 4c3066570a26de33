import type { EmbeddingsRequest, ImagesRequest, TranscriptionRequest } from '../../core/operation.ts'
import type { EndpointRecord, ProviderRecord } from '../../core/snapshot.ts'

/**
 * What models and vendors cannot do. The figures are not yet compared with the vendors' pages row by row: a wrong one refuses
 * requests. Each function completes "<provider> …"; null: nothing is known against the request.
 */

/** The lengths of vectors that a model makes: a list, or the most; an empty list: it takes no `dimensions`. */
const VECTORS: readonly (readonly [names: RegExp, lengths: number | readonly number[]])[] = [
  [/text-embedding-ada-002|\bmistral-embed|embed-(?:english|multilingual)-(?:light-)?v[23]/i, []],
  [/text-embedding-3-small/i, 1_536],
  [/text-embedding-3-large|gemini-embedding|codestral-embed/i, 3_072],
  [/\bembed-v4/i, [256, 512, 1_024, 1_536]],
  [/voyage-(?:3-large|3\.5|code-3)/i, [256, 512, 1_024, 2_048]],
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
  readonly sizes?: readonly string[]
  readonly most?: number
  readonly takesImages?: false
}

const IMAGES: readonly ImageLimit[] = [
  { names: /dall-e-2/i, sizes: ['256x256', '512x512', '1024x1024'] },
  { names: /dall-e-3/i, sizes: ['1024x1024', '1792x1024', '1024x1792'], most: 1, takesImages: false },
  { names: /gpt-image-1(?:-mini)?$/i, sizes: ['1024x1024', '1536x1024', '1024x1536'] },
]

export function imageLimit(request: ImagesRequest, { upstreamId }: EndpointRecord): string | null {
  const known = IMAGES.find(({ names }) => names.test(upstreamId))
  if (known === undefined) return null
  const { sizes, most, takesImages } = known
  const { size, count, references, mask } = request
  if (takesImages === false && (references.length > 0 || mask))
    return `makes images from words alone with ${upstreamId}`
  if (most !== undefined && count > most)
    return `makes at most ${most} image at a time with ${upstreamId}, and "n" is ${count}`
  if (size === undefined || size === 'auto' || sizes === undefined || sizes.includes(size)) return null
  return `makes images of ${sizes.join(', ')} with ${upstreamId}, and "size" is ${size}`
}

/** OpenAI's later transcription models answer in plain JSON alone. */
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
