import { type Static, Type as t } from '@sinclair/typebox'
import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import type { ModerationRequest, ModerationResult } from '../../core/operation.ts'
import { readRouting } from '../caller-fields.ts'
import { routingFields } from '../caller-schema.ts'
import { bounded, openObject } from '../fields.ts'
import { bodyCheck } from '../mismatch.ts'
import type { OperationIngress } from '../operation.ts'
import { viewCost, viewMetadata } from '../usage.ts'
import { modelField } from './fields.ts'

const part = openObject({
  type: t.String({ description: 'text or image_url' }),
  text: t.Optional(t.String()),
})

export const moderationBody = bounded(
  openObject({
    input: t.Union([t.String(), t.Array(t.Union([t.String(), part]), { minItems: 1 })], {
      description: 'A text, texts, or parts (text, image_url) of one input',
    }),
    model: modelField('A model that moderates; default omni-moderation-latest'),
    ...routingFields,
  }),
)
type ModerationBody = Static<typeof moderationBody>

const checkBody = bodyCheck(moderationBody)

/** OpenAI's clients send no model. */
const DEFAULT_MODEL = 'omni-moderation-latest'

/** POST /moderations, in OpenAI's shape. */
export const moderationsIngress: OperationIngress<ModerationRequest, ModerationResult> = {
  parse(input, headers) {
    const body = checkBody(input)
    const routed = readRouting('moderation', body, headers)
    const models = routed.models.length > 0 ? routed.models : [DEFAULT_MODEL]
    return { ...routed, models, texts: textsOf(body.input) }
  },
  writeReply: ({ results }, reply, closing): JsonObject => ({
    ...reply.native,
    id: reply.generationId,
    model: reply.model,
    provider: reply.providerName,
    results,
    usage: { ...viewCost(closing) },
    ...viewMetadata(closing.serviceMetadata),
  }),
}

const textsOf = (input: ModerationBody['input']): string[] =>
  isString(input)
    ? [input]
    : input.flatMap((each) =>
        isString(each) ? [each] : isObject(each) && isString(each.text) ? [each.text] : [],
      )
