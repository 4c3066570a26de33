import { and, eq, inArray, isNull } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import type { FilterRules } from '../db/filter-rules.ts'
import { destinationPlace, type Sealer } from '../db/seal.ts'
import { type DestinationRow, destinations, workspaces } from '../db/tables.ts'
import { type DestinationConfig, ENCODING_HEADER, isDestinationType } from '../exporters/destination-types.ts'
import { type Destination, OWN_TELEMETRY } from './destination.ts'

/** A destination with a text that changes with everything of it. */
export interface StoredDestination {
  readonly id: string
  readonly version: string
  /** Opens the config; null: it cannot be opened, which is reported. */
  open(): Destination | null
}

export interface StoredDeps {
  readonly database: Database
  readonly sealer: Sealer
  /** The gateway's own telemetry; null: none. */
  readonly own: Destination | null
  /** The config cannot be opened: the destination is left out. */
  onUnreadable(destinationId: string, error: unknown): void
}

/** The destinations of these workspaces, without `workspaceIds` all, unless their workspace is deleted. */
export function readDestinations(
  { database, sealer, own, onUnreadable }: StoredDeps,
  workspaceIds?: ReadonlySet<string>,
): StoredDestination[] {
  const rows = database.sync
    .select({ row: destinations, isOn: workspaces.is_observability_broadcast_enabled })
    .from(destinations)
    .innerJoin(workspaces, eq(workspaces.id, destinations.workspace_id))
    .where(and(isNull(workspaces.deleted_at), workspaceIds && inArray(workspaces.id, [...workspaceIds])))
    .orderBy(destinations.id)
    .all()
  const stored = rows.map(
    ({ row, isOn }): StoredDestination => ({
      id: row.id,
      version: JSON.stringify([row, isOn]),
      open() {
        try {
          return destinationOf(row, isOn, sealer)
        } catch (error) {
          onUnreadable(row.id, error)
          return null
        }
      },
    }),
  )
  return own === null || workspaceIds !== undefined
    ? stored
    : [{ id: own.id, version: '', open: () => own }, ...stored]
}

function destinationOf(row: DestinationRow, isOn: boolean, sealer: Sealer): Destination | null {
  if (!isDestinationType(row.type)) return null
  const config: DestinationConfig = JSON.parse(sealer.open(row.sealed_config, destinationPlace(row)))
  // The column's type is that of any JSON object.
  const filterRules: FilterRules | null = JSON.parse(JSON.stringify(row.filter_rules))
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    type: row.type,
    config,
    enabled: row.enabled && isOn,
    privacyMode: row.privacy_mode,
    samplingRate: row.sampling_rate,
    apiKeyHashes: row.api_key_hashes,
    filterRules,
    regions: row.regions,
    cost: row.broadcast_generation_cost,
    identity: row.broadcast_generation_identity,
    requestContext: row.broadcast_generation_request_context,
  }
}

export interface OwnTelemetry {
  readonly otlpEndpoint: string | null
  readonly otlpHeaders: Readonly<Record<string, string>>
  readonly otlpProtocol: 'http/protobuf' | 'http/json'
  readonly otlpSampling: number
}

/** Our own spans: of all workspaces, to one collector, without content. Null without SLUICE_OTLP_ENDPOINT. */
export const ownTelemetry = ({
  otlpEndpoint,
  otlpHeaders,
  otlpProtocol,
  otlpSampling,
}: OwnTelemetry): Destination | null =>
  otlpEndpoint === null
    ? null
    : {
        id: OWN_TELEMETRY,
        workspaceId: null,
        name: 'SLUICE_OTLP_ENDPOINT',
        type: 'otel-collector',
        config: {
          fields: { endpoint: otlpEndpoint },
          headers: { ...otlpHeaders, ...(otlpProtocol === 'http/json' && { [ENCODING_HEADER]: 'json' }) },
        },
        enabled: true,
        privacyMode: true,
        samplingRate: otlpSampling,
        apiKeyHashes: null,
        filterRules: null,
        regions: ['global', 'europe', 'us'],
        cost: true,
        identity: true,
        requestContext: true,
      }
