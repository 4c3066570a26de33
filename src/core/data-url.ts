/** More than any media type with its parameters: the comma that ends them is looked for no further on. */
const MAX_HEAD_CHARACTERS = 1_024

/** The part of a data URL before its data. */
export interface DataUrlHead {
  /** As it is written; '' where it is left out. */
  readonly mediaType: string
  readonly isBase64: boolean
  /** Where the data begins. */
  readonly length: number
}

/** Reads the head of `data:<type>[;parameters][;base64],`; null for anything else. It never looks at the data. */
export function dataUrlHead(url: string): DataUrlHead | null {
  const head = url.slice(0, MAX_HEAD_CHARACTERS)
  const comma = head.indexOf(',')
  if (comma < 0 || !/^data:/i.test(head)) return null
  const [mediaType = '', ...parameters] = head.slice('data:'.length, comma).split(';')
  return {
    mediaType,
    isBase64: parameters.at(-1)?.toLowerCase() === 'base64',
    length: comma + 1,
  }
}

/** The data of the URL in base64. Text that should be percent-encoded and is not is taken as it is. */
export function base64Of(url: string, { isBase64, length }: DataUrlHead): string {
  const data = url.slice(length)
  if (isBase64) return data
  try {
    return Buffer.from(decodeURIComponent(data)).toString('base64')
  } catch {
    return Buffer.from(data).toString('base64')
  }
}
