import { objectsIn } from '../../core/json.ts'
import type { ModerationRequest, ModerationResult } from '../../core/operation.ts'
import { NO_USAGE } from '../../core/usage.ts'
import { moderationsIngress } from '../../dialects/operations/moderations.ts'
import { moderationEgresses } from '../../dialects/operations.ts'
import { textTokens } from '../admission/estimate.ts'
import { inputNeeds } from '../routing/needs.ts'
import type { Task } from './task.ts'

/** POST /moderations: free, or priced by input tokens. */
export const moderations: Task<ModerationRequest, ModerationResult> = {
  ingress: moderationsIngress,
  egresses: moderationEgresses,
  needs: ({ body }) =>
    inputNeeds(objectsIn(body['input']).some(({ type }) => type === 'image_url') ? ['image'] : []),
  bound: ({ texts }) => ({
    ...NO_USAGE,
    inputTokens: texts.reduce((sum, text) => sum + FRAME_TOKENS + textTokens(text), 0),
  }),
  count: (request, _, reported, pricing) =>
    reported === null
      ? { usage: moderations.bound(request, pricing), source: 'estimated' }
      : { usage: reported, source: 'provider' },
  logged: ({ results }) => results,
}

const FRAME_TOKENS = 2
