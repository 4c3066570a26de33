import { Elysia, t } from 'elysia'
import { type CallerDeps, callerOption } from '../../http/caller.ts'
import { operation } from '../../http/operation.ts'
import { feedbackBody, generation, generationContent, generationQuery } from './schema.ts'
import { type ContentDeps, getContent, getGeneration, giveFeedback } from './service.ts'

const tag = 'Generations'
const CONTENT =
  "Known as soon as the last byte of the reply has left, where the generation's workspace logs prompts and answers " +
  '(`is_observability_io_logging_enabled`, `io_logging_api_key_ids`, `io_logging_sampling_rate`); else a 404 that says ' +
  "why. The input is as the key's guardrails left it. An answer that is more than text (calls of tools, images, vectors) " +
  'is JSON in `completion`. What was cut to size is marked.'

export const generationRoutes = (deps: CallerDeps & ContentDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get(
      '/generation',
      async ({ caller, query }) => ({ data: await getGeneration(deps, caller, query.id) }),
      {
        caller: 'any',
        query: generationQuery,
        response: { 200: t.Object({ data: generation }) },
        detail: operation({
          id: 'getGeneration',
          tag,
          summary: 'What a generation used and cost',
          description: 'Known as soon as the last byte of the reply has left, also after a restart.',
          errors: [402, 502, 524, 529],
        }),
      },
    )
    .get(
      '/generation/content',
      async ({ caller, query }) => ({ data: await getContent(deps, caller, query.id) }),
      {
        caller: 'any',
        query: generationQuery,
        detail: operation({
          id: 'getGenerationContent',
          tag,
          summary: 'What was asked and answered',
          description: CONTENT,
          reply: t.Object({ data: generationContent }),
          errors: [502, 524, 529],
        }),
      },
    )
    .post(
      '/generation/feedback',
      async ({ body, caller }) => {
        await giveFeedback(deps, caller, body)
        return { data: { success: true } }
      },
      {
        caller: 'any',
        body: feedbackBody,
        response: { 200: t.Object({ data: t.Object({ success: t.Boolean() }) }) },
        detail: operation({
          id: 'giveGenerationFeedback',
          tag,
          summary: 'Say what was wrong with an answer',
        }),
      },
    )
