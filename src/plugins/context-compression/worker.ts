import type { Encoding } from './encodings.ts'

/** Texts whose tokens are to be counted: an entry point of its own, because it runs in a thread of its own. */
export interface TokenTask {
  readonly encoding: Encoding
  readonly texts: readonly string[]
}

/**
 * The time for a word grows with the square of its length, so a longer one is counted in pieces: at most one token more
 * for each.
 */
const LONG_WORD = /\S{200}/g
/** A text may contain the names of special tokens; here they are text. */
const PLAIN = { disallowedSpecial: new Set<string>() }

self.onmessage = async ({ data: { encoding, texts } }: MessageEvent<TokenTask>) => {
  const { countTokens } =
    encoding === 'o200k_base'
      ? await import('gpt-tokenizer/encoding/o200k_base')
      : await import('gpt-tokenizer/encoding/cl100k_base')
  self.postMessage(
    texts.map((text) => {
      let tokens = 0
      let from = 0
      for (const { index, 0: word } of text.matchAll(LONG_WORD)) {
        tokens += countTokens(text.slice(from, index + word.length), PLAIN)
        from = index + word.length
      }
      return tokens + countTokens(text.slice(from), PLAIN)
    }),
  )
}
