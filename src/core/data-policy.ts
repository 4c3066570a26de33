/** A provider's handling of prompts and replies. An absent field is unknown. */
export interface DataPolicy {
  /** Whether it may train models on them. */
  readonly training?: boolean
  /** The longest time that it stores them, in days; 0: it does not. */
  readonly retentionDays?: number
  /** Zero data retention: by default, only after an agreement or a setting of the account, or not offered. */
  readonly zdr?: 'always' | 'on_request' | 'never'
}

/** The fields of an endpoint that its data policy sets. */
interface Governed {
  readonly dataPolicy?: DataPolicy
  /** True if `dataPolicy.zdr` is `always`. */
  readonly isZdr: boolean
}

/** `over` takes precedence; what contradicts it in `base` is no longer known. */
export function mergedPolicy(base: DataPolicy, over: DataPolicy): DataPolicy {
  const { zdr, retentionDays, ...rest } = base
  const stores = over.training === true || (over.retentionDays ?? 0) > 0
  const mayStore = stores || (over.zdr !== undefined && over.zdr !== 'always')
  return {
    ...rest,
    ...(zdr === undefined || (zdr === 'always' && stores) ? {} : { zdr }),
    ...(retentionDays === undefined || (retentionDays === 0 && mayStore) ? {} : { retentionDays }),
    ...over,
    ...(over.zdr === 'always' ? { retentionDays: 0 } : {}),
  }
}

/** The endpoint with `over` on top of its policy: the only place that sets `isZdr` from a policy. */
export function withPolicy<E extends Governed>(endpoint: E, over: DataPolicy): E {
  const dataPolicy = mergedPolicy(endpoint.dataPolicy ?? (endpoint.isZdr ? RETAINS_NOTHING : {}), over)
  return { ...endpoint, dataPolicy, isZdr: dataPolicy.zdr === 'always' }
}

export const RETAINS_NOTHING: DataPolicy = { training: false, retentionDays: 0, zdr: 'always' }

/** What is stored for no longer than this is stored for operation. Vendors keep abuse logs for 30 to 55 days. */
export const MOST_OPERATION_DAYS = 60

/** True if it is known not to train on prompts. A provider that stores nothing cannot train. */
export const isUntrained = ({ isZdr, dataPolicy }: Governed): boolean =>
  isZdr || dataPolicy?.training === false

/** True if it is known not to train, and to store nothing beyond operation: `data_collection: "deny"`. */
export const collectsNothing = (endpoint: Governed): boolean =>
  endpoint.isZdr ||
  (endpoint.dataPolicy?.training === false &&
    (endpoint.dataPolicy.retentionDays ?? Number.POSITIVE_INFINITY) <= MOST_OPERATION_DAYS)
