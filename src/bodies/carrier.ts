import type { Carrier } from '../core/carrier.ts'
import type { Place, Sealer } from '../db/seal.ts'

/** No row holds it: the client does. */
const placeOf = (workspaceId: string): Place => ({
  table: 'carried',
  column: 'by_client',
  rowId: '',
  workspaceId,
})

export const carrierFor = (sealer: Sealer, workspaceId: string): Carrier => {
  const place = placeOf(workspaceId)
  return {
    seal: (text) => Buffer.from(sealer.sealBytes(Buffer.from(text), place)).toString('base64url'),
    open(sealed) {
      try {
        return Buffer.from(sealer.openBytes(Buffer.from(sealed, 'base64url'), place)).toString()
      } catch {
        return null
      }
    },
  }
}
