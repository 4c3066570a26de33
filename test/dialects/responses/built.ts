import { responsesEgress } from '../../../src/dialects/responses/index.ts'
import { buildTable, HELLO } from '../build-table.ts'
import { attemptOf } from './attempt.ts'

export const { built, table } = buildTable(responsesEgress.build, attemptOf, { input: HELLO, store: false })

/** Asks for reasoning that can be sent back: on every request to a model that reasons. */
export const ENCRYPTED = { include: ['reasoning.encrypted_content'] }
