import { Elysia, t } from 'elysia'
import { type CallerDeps, callerOption } from '../../http/caller.ts'
import { operation } from '../../http/operation.ts'
import { feedbackBody, generation, generationContent, generationQuery } from './schema.ts'
import { type GenerationDeps, getGeneration, giveFeedback, refuseContent } from './service.ts'

const tag = 'Generations'

export const generationRoutes = (deps: CallerDeps & GenerationDeps) =>
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
          errors: [400, 401, 402, 404, 429, 500, 502, 524, 529],
        }),
      },
    )
    .get('/generation/content', ({ caller, query }) => refuseContent(deps, caller, query.id), {
      caller: 'any',
      query: generationQuery,
      detail: operation({
        id: 'getGenerationContent',
        tag,
        summary: 'What was asked and answered',
        description: 'Prompts and answers are not logged, so there is none: always a 404 that says so.',
        reply: t.Object({ data: generationContent }),
        errors: [400, 401, 403, 404, 429, 500, 502, 524, 529],
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
        detail: operation({
          id: 'giveGenerationFeedback',
          tag,
          summary: 'Say what was wrong with an answer',
          errors: [400, 401, 404, 413, 429, 500],
        }),
      },
    )
