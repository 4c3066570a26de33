import { readFileSync } from 'node:fs'

/** The facts of the generation that every client is given, in our words (src/exporters/record.ts). */
export const record = JSON.parse(readFileSync(process.env.SLUICE_RECORD, 'utf8'))

/** Where the recorder listens. */
export const recorder = process.env.SLUICE_RECORDER
