import { Elysia, t } from 'elysia'
import type { EndpointHealth } from '../../../core/endpoint-health.ts'
import { type CallerDeps, callerOption } from '../../../http/caller.ts'
import { operationsOf } from '../../../http/operation.ts'
import { dataReply, instant, integer, noQuery, nullable } from '../../../http/schemas.ts'

const documented = operationsOf('Providers')

const endpointHealth = t.Object({
  endpoint: t.String({
    description: 'The provider’s slug and the model, as in `provider.only` and in the log.',
  }),
  model: t.String(),
  provider: t.String({ description: 'The slug.' }),
  provider_name: t.String(),
  credential: t.String({ description: 'The name of the credential, never the secret.' }),
  byok_key_id: nullable(t.String()),
  state: t.UnionEnum(['failing', 'half_open', 'rate_limited', 'refused', 'unknown_model'], {
    description:
      '`failing`: skipped after failures. `half_open`: probed by a few requests. `rate_limited`: skipped until the limit ends. `refused`: the provider rejected the credential. `unknown_model`: the provider does not have the model.',
  }),
  cause: t.String({ description: 'A sentence, without the provider’s own text.' }),
  since: instant('The first failure after the last success.'),
  next_probe_at: instant(
    'When the next request may call it. If nothing else can serve a request, a failing endpoint is called sooner: once a second at least.',
  ),
  failures: integer({ description: 'Of the last 30 seconds.' }),
  successes: integer({ description: 'Of the last 30 seconds.' }),
})

interface HealthDeps {
  readonly run: { readonly health: { troubled(): EndpointHealth[] } }
}

export const endpointHealthRoutes = (deps: CallerDeps & HealthDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/endpoints/health', () => ({ data: deps.run.health.troubled().map(viewOf) }), {
      caller: 'management',
      query: noQuery,
      response: dataReply(t.Array(endpointHealth)),
      detail: documented('listEndpointHealth', 'Which endpoints are skipped, why, and until when', {
        description: 'Endpoints that are not listed are called as usual. In memory: a restart clears it.',
      }),
    })

const viewOf = (health: EndpointHealth) => ({
  endpoint: health.endpointId,
  model: health.modelId,
  provider: health.providerSlug,
  provider_name: health.providerName,
  credential: health.credentialId,
  byok_key_id: health.byokKeyId,
  state: health.state,
  cause: health.cause,
  since: new Date(health.since).toISOString(),
  next_probe_at: new Date(health.nextProbeAt).toISOString(),
  failures: health.failures,
  successes: health.successes,
})
