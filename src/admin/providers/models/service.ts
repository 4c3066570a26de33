import { type CatalogDiff, type DiffRow, isUnchanged } from '../../../catalog/diff.ts'
import { warningText } from '../../../catalog/outliers.ts'
import { type Proposal, proposalFor, proposalOf, refreshedBy } from '../../../catalog/refresh.ts'
import type { CatalogInUse, RefreshedCatalog } from '../../../catalog/store.ts'
import { badRequest, conflict, GatewayError, UpstreamError } from '../../../core/errors.ts'
import { type OutboundAllow, parseOutboundAllow } from '../../../net/address.ts'
import { guardedFetch } from '../../../net/guarded.ts'
import type { CatalogView, RefreshBody, RefreshView } from './schema.ts'

/** The catalogue of a running server or of a data folder. */
export interface CatalogControl {
  current(): CatalogInUse
  builtIn(): CatalogInUse['seed']
  /** Keeps another catalogue, or the program's own again, and uses it for the next request. */
  replace(refreshed: RefreshedCatalog | null): void
}

export interface RefreshDeps {
  catalog: CatalogControl
  /** The default source of model metadata. */
  url: string
  fetchDocument: FetchDocument
  /** Milliseconds since 1970. */
  now(): number
}

/** Throws a `GatewayError` in place of a document. */
export type FetchDocument = (url: string) => Promise<unknown>

const DOCUMENT_LIMIT_BYTES = 64_000_000
const DOWNLOAD_TIMEOUT_MS = 60_000
/** In place of a URL: the facts that the program was built with. */
const BUILT_IN = 'built-in'

/** Shows what a refresh would change and, unless `dry_run`, does it. Throws a 400 for a broken document, 502 for none. */
export async function refreshCatalog(deps: RefreshDeps, body: RefreshBody): Promise<RefreshView> {
  if (body.from !== undefined && body.document !== undefined)
    throw badRequest('cannot be combined with document', 'from')
  const { proposal, source } = await propose(deps, body)
  if (body.digest !== undefined && body.digest !== proposal.digest) {
    throw conflict('The model metadata changed since the changes were shown: review the changes again')
  }
  const isApplied = body.dry_run !== true
  if (isApplied) takeOver(deps, proposal, source)
  return refreshView(proposal, source, isApplied)
}

/** Uses the proposed catalogue for the next request. */
export function takeOver({ catalog, now }: RefreshDeps, proposal: Proposal, source: string): void {
  catalog.replace(source === BUILT_IN ? null : refreshedBy(proposal, source, now(), catalog.current()))
}

export async function fetchProposal(deps: RefreshDeps, url: string): Promise<Proposal> {
  const document = await deps.fetchDocument(url)
  return proposalOf(document, deps.catalog.current())
}

async function propose(
  deps: RefreshDeps,
  { from, document }: RefreshBody,
): Promise<{ proposal: Proposal; source: string }> {
  const { catalog } = deps
  if (from === BUILT_IN) {
    return { proposal: proposalFor(catalog.builtIn(), catalog.current()), source: BUILT_IN }
  }
  if (document !== undefined)
    return { proposal: await proposalOf(document, catalog.current()), source: 'a document' }
  const source = from ?? deps.url
  return { proposal: await fetchProposal(deps, source), source }
}

/**
 * Downloads documents, from public addresses and those that the operator excepted. `trusted` is an address of the
 * settings: the operator wrote it, so it may be private.
 */
export const documentFetcher =
  (allow: OutboundAllow, trusted: string): FetchDocument =>
  async (url) => {
    try {
      const reply = await guardedFetch(url, {
        allow: url === trusted ? withHostOf(trusted, allow) : allow,
        limitBytes: DOCUMENT_LIMIT_BYTES,
        timeoutMs: DOWNLOAD_TIMEOUT_MS,
        path: 'from',
        headers: { accept: 'application/json' },
      })
      if (reply.status !== 200) throw notFetched(url, `it answers with HTTP ${reply.status}`)
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(reply.body))
    } catch (error) {
      if (error instanceof UpstreamError) throw notFetched(url, error.reason, error)
      if (error instanceof SyntaxError || error instanceof TypeError)
        throw notFetched(url, 'it does not answer with JSON', error)
      throw error
    }
  }

function withHostOf(url: string, allow: OutboundAllow): OutboundAllow {
  const own = parseOutboundAllow([new URL(url).hostname])
  return {
    hosts: new Set([...allow.hosts, ...own.hosts]),
    networks: [...allow.networks, ...own.networks],
  }
}

const notFetched = (url: string, why: string, cause?: Error): GatewayError =>
  new GatewayError(
    502,
    `No facts came from ${url}: ${why}. The catalogue stays as it is`,
    cause === undefined ? {} : { cause },
  )

/** The catalogue in use. */
export function catalogView({ seed, refreshed }: CatalogInUse): CatalogView {
  return {
    source: refreshed?.source ?? BUILT_IN,
    facts_at: seed.facts_at,
    refreshed_at: refreshed === null ? null : new Date(refreshed.refreshedAt).toISOString(),
    models: seed.models.length,
    endpoints: Object.values(seed.endpoints).reduce((sum, rows) => sum + rows.length, 0),
  }
}

const refreshView = ({ diff, digest, seed }: Proposal, source: string, isApplied: boolean): RefreshView => ({
  applied: isApplied,
  unchanged: isUnchanged(diff),
  digest,
  source,
  facts_at: seed.facts_at,
  ...diffView(diff),
})

const diffView = ({ added, removed, priceChanges, otherChanges, warnings }: CatalogDiff) => ({
  added: added.map(rowView),
  removed: removed.map(rowView),
  price_changes: priceChanges.map(({ provider, model, before, after }) => ({
    provider,
    model,
    before: before === null ? null : { ...before },
    after: after === null ? null : { ...after },
  })),
  other_changes: otherChanges.map(rowView),
  warnings: warnings.map((warning) => ({ ...warning, message: warningText(warning) })),
})

const rowView = ({ provider, model }: DiffRow) => ({ provider, model })
