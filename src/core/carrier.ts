/**
 * Seals text that a client carries from one request to the next: authenticated, for one workspace, with the gateway's
 * secret key, so that it opens after a restart too.
 */
export interface Carrier {
  seal(text: string): string
  /** Null: sealed with another key, for another workspace, or changed. */
  open(sealed: string): string | null
}
