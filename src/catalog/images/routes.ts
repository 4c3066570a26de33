import { Elysia, t } from 'elysia'
import { notFound } from '../../core/errors.ts'
import { type CallerDeps, callerOption } from '../../http/caller.ts'
import { operationsOf } from '../../http/operation.ts'
import type { CatalogLists } from '../callable.ts'
import { narrowed, type Offered } from '../listing.ts'
import { lookUp } from '../lookup.ts'
import { modelParams } from '../schema.ts'
import { imageEndpoint, imageModel } from './schema.ts'
import { givesImages, imageEndpointView, imageModelView } from './view.ts'

const documented = operationsOf('Images')

/** The models that POST /images takes. `basePath` precedes `/images` in the addresses of replies. */
export const imageModelRoutes = (deps: CallerDeps & { lists: CatalogLists }, basePath: string) =>
  new Elysia()
    .use(callerOption(deps))
    .get(
      '/images/models',
      () => ({
        data: deps.lists
          .all()
          .map((offered) => narrowed(offered, givesImages))
          .filter((offered) => offered !== null)
          .map((offered) => imageModelView(offered, basePath)),
      }),
      {
        caller: 'any',
        response: { 200: t.Object({ data: t.Array(imageModel) }) },
        detail: documented('listImageModels', 'List the models that make images', {
          description: 'A model has the parameters of all its endpoints; each endpoint lists its own.',
        }),
      },
    )
    .get(
      '/images/models/:author/:slug/endpoints',
      ({ params: { author, slug } }) => {
        const offered = imagesOf(lookUp(`${author}/${slug}`, deps.snapshot.current()))
        return { id: offered.model.id, endpoints: offered.endpoints.map(imageEndpointView) }
      },
      {
        caller: 'any',
        params: modelParams,
        response: { 200: t.Object({ id: t.String(), endpoints: t.Array(imageEndpoint) }) },
        detail: documented('listImageModelEndpoints', 'List the endpoints of an image model'),
      },
    )

function imagesOf(offered: Offered): Offered {
  const seen = narrowed(offered, givesImages)
  if (seen !== null) return seen
  throw notFound(`The model ${offered.model.id} gives ${offered.outputModalities.join(', ')} and no images`)
}
