/** Secrets with a mark in them, and the search for the mark in all its forms. */
import { createHash } from 'node:crypto'

/** In the middle of every secret, so that no masked form shows it. Refusals may quote one word. */
export const MARK = 'cAnArY7f3a9'
export const secret = (kind: string): string => `aaaa-${kind}-of-a-person-${MARK}-${kind}-of-a-person-zzzz`

export const BOOTSTRAP = {
  SLUICE_SECRET_KEY: createHash('sha256').update(MARK).digest('hex'),
  SLUICE_MANAGEMENT_KEY: secret('management-key-of-the-settings'),
  SLUICE_API_KEY: secret('inference-key-of-the-settings'),
}
export const PASSWORD = secret('password')
export const PERSON = 'owner@sluice.example'

/** The encodings in which a secret could still be read. */
const formsOf = (text: string): string[] => {
  const bytes = Buffer.from(text)
  // The part of base64 that does not depend on the bytes before and after.
  const shifted = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(4, -4),
  )
  return [...new Set([text, bytes.toString('hex'), ...shifted, encodeURIComponent(text)])]
}
export const leaksOf = (text: string, made: ReadonlySet<string>): string[] =>
  [MARK, ...[...made].map((key) => key.replace(/^sk-sl-(?:mgmt-)?v1-/, ''))].flatMap((mark) =>
    formsOf(mark).flatMap((form) => {
      const place = text.indexOf(form)
      return place === -1 ? [] : [text.slice(Math.max(0, place - 80), place + form.length)]
    }),
  )
