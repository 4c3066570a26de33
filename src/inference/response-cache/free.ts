import { NO_USAGE } from '../../core/usage.ts'
import { FREE } from '../admission/price.ts'
import type { Settled } from '../reply/meter.ts'
import type { KeptAnswer } from './store.ts'

/** The row of a cache hit: no provider was called, so it has no usage and no cost. */
export const atNoCost = ({ settlement }: Settled, { sourceId }: KeptAnswer): Settled => ({
  cost: FREE,
  settlement: {
    ...settlement,
    isByok: false,
    upstreamId: null,
    usage: NO_USAGE,
    usageSource: 'none',
    costNanoUsd: 0,
    cacheDiscountNanoUsd: null,
    responseCacheSourceId: sourceId,
  },
})
