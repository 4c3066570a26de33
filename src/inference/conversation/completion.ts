import { Type as t } from '@sinclair/typebox'
import { completionBody } from '../../dialects/chat/completions.ts'
import { cachedInference, choiceFields, completionFields, generationId } from '../document-parts.ts'

const choice = t.Object({ ...choiceFields, text: t.String(), reasoning: t.Optional(t.String()) })

const reply = t.Object({
  id: generationId,
  object: t.Literal('text_completion'),
  choices: t.Array(choice),
  ...completionFields,
})

/** POST /completions in the API document. */
export const completionOperation = cachedInference(
  'createCompletion',
  "Create a completion (OpenAI's older API)",
  {
    description:
      'Sent to every provider as a chat completion with the prompt as its only user message. For clients of the legacy ' +
      'API. Token ids, several prompts and a suffix are rejected.',
    body: completionBody,
    reply,
    streams: true,
  },
)
