/** The longest text of a document: more than any model reads. */
export const MOST_CHARACTERS = 4_000_000

/** Why a document cannot be read, as the end of a sentence about the file. */
export class Refusal extends Error {}

export const UNKNOWN = 'it is none of the kinds that this gateway reads: PDF, DOCX, XLSX, PPTX, HTML and text'
