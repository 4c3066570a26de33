import { messagesEgress } from '../../../src/dialects/messages/index.ts'
import { buildTable, HELLO } from '../build-table.ts'
import { attemptOf } from './attempt.ts'

export const { built, table } = buildTable(messagesEgress.build, attemptOf, {
  max_tokens: 4096,
  messages: HELLO,
})
