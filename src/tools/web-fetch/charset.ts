/** The part of a page in which the standard looks for its charset. */
const PRESCAN_BYTES = 1_024

/**
 * The text of a page: by its byte order mark, else by `charset` of the `content-type`, else by its own `<meta>`, else UTF-8
 * if it is valid, else Windows-1252.
 */
export function decodePage(bytes: Uint8Array, contentType: string): string {
  const named =
    markedCharset(bytes) ??
    charsetIn(contentType) ??
    charsetIn(new TextDecoder('latin1').decode(bytes.subarray(0, PRESCAN_BYTES)))
  return (
    (named && decodedAs(named, bytes)) ??
    decodedAs('utf-8', bytes, true) ??
    decodedAs('windows-1252', bytes) ??
    ''
  )
}

function markedCharset([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return undefined
}

/** Of `text/html; charset=…`, `<meta charset="…">` or `<?xml … encoding="…">`. */
const charsetIn = (text: string): string | undefined =>
  /(?:charset|encoding)\s{0,20}=\s{0,20}["']?([\w.:-]{2,40})/i.exec(text)?.[1]

/** Undefined for a charset that is unknown, and with `fatal` for bytes that are not in it. */
function decodedAs(label: string, bytes: Uint8Array, fatal = false): string | undefined {
  try {
    return new TextDecoder(label, { fatal }).decode(bytes)
  } catch {
    return undefined
  }
}
