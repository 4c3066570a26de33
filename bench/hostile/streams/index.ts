import { chat } from './chat.ts'
import { cohere } from './cohere.ts'
import { converse } from './converse.ts'
import { gemini } from './gemini.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'
import type { Stream } from './stream.ts'

export const streams = { chat, responses, messages, gemini, converse, cohere } satisfies Record<
  string,
  Stream
>
