import type { Egress } from '../dialect.ts'
import { buildChat } from './build.ts'
import { readChat } from './read.ts'
import { readChatError } from './read-error.ts'

/** Providers that speak OpenAI's chat completions. */
export const chatEgress = {
  // `file_data` is base64 in OpenAI's own API; only images are read from addresses.
  needsContent: (part) => part === 'file',
  build: buildChat,
  read: readChat,
  readError: readChatError,
} satisfies Egress
