/** The parts of a generation that are spans. */
export type SpanPart = 'request' | 'chat' | `attempt:${number}`

/** The id of a generation's span, 16 hex digits: the same one each time the generation is delivered. */
export const spanIdOf = (generationId: string, part: SpanPart): string =>
  part === 'request' && GENERATION_ID.test(generationId)
    ? generationId.slice(-16)
    : digest(`${generationId}:${part}`, 16)

/** Its last 16 digits are random and are the span id of the request. Every reply has that id, so it is not hashed. */
const GENERATION_ID = /^gen-[0-9a-f]{32}$/

/** The trace id of a generation whose caller named none, 32 hex digits. */
export const traceIdOf = (generationId: string): string => digest(generationId, 32)

const digest = (text: string, digits: number): string => Bun.SHA256.hash(text, 'hex').slice(0, digits)
