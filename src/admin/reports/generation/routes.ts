import { Elysia, t } from 'elysia'
import { type CallerDeps, callerOption } from '../../../http/caller.ts'
import { operationsOf } from '../../../http/operation.ts'
import { data, dataReply } from '../../../http/schemas.ts'
import { feedbackBody, generation, generationContent, generationQuery } from './schema.ts'
import { type ContentDeps, getContent, getGeneration, giveFeedback } from './service.ts'

const documented = operationsOf('Generations')
const CONTENT =
  "Known as soon as the last byte of the reply has left, where the generation's workspace logs prompts and answers " +
  '(`is_observability_io_logging_enabled`, `io_logging_api_key_ids`, `io_logging_sampling_rate`); else a 404 that says ' +
  "why. The input is as the key's guardrails left it. An answer that is more than text (calls of tools, images, vectors) " +
  'is JSON in `completion`. What was cut to size is marked.'

export const generationRoutes = (deps: CallerDeps & ContentDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/generation', ({ caller, query }) => data(getGeneration(deps, caller, query.id)), {
      caller: 'any',
      query: generationQuery,
      response: dataReply(generation),
      detail: documented('getGeneration', 'What a generation used and cost', {
        description: 'Available as soon as the last byte of the reply has been sent, also after a restart.',
        errors: [402, 502, 524, 529],
      }),
    })
    .get('/generation/content', ({ caller, query }) => data(getContent(deps, caller, query.id)), {
      caller: 'any',
      query: generationQuery,
      detail: documented('getGenerationContent', 'What was asked and answered', {
        description: CONTENT,
        reply: t.Object({ data: generationContent }),
        errors: [502, 524, 529],
      }),
    })
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
        detail: documented('giveGenerationFeedback', 'Say what was wrong with an answer'),
      },
    )
