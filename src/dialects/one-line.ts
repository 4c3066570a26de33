/** These end a line for some SSE clients, though JSON may carry the last three bare: always escaped. */
const LINE_ENDS = /[\n\r\u0085\u2028\u2029]/
const BARE_LINE_ENDS = /[\u0085\u2028\u2029]/g
const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** JSON text for a `data:` line. Text can never end an event: JSON escapes CR and LF, and the rest is escaped here. */
export const oneLine = (json: string): string =>
  LINE_ENDS.test(json) ? json.replace(BARE_LINE_ENDS, escapeUnit) : json

/** True where upstream's own JSON text of a string may stand in a `data:` line as it is. */
export const mayBeSpliced = (json: string): boolean => !LINE_ENDS.test(json)
