/** The kinds of keys and sessions that call every operation. */
import { MANAGEMENT_KEY } from '../../gateway.ts'
import type { Browser } from '../people.ts'
import type { Place, World } from './types.ts'

/** Keys, and sessions: of an administrator, and of a member of only the own workspace. */
export type Key = 'none' | 'disabled' | 'own' | 'foreign' | 'management' | 'admin' | 'member'
export const KEYS: readonly Key[] = ['none', 'disabled', 'own', 'foreign', 'management', 'admin', 'member']
export const mayManage = (key: Key): boolean => key === 'management' || key === 'admin'

export const keyOf = (world: World, key: Key): string | Browser | null =>
  ({
    none: null,
    disabled: world.disabledKey,
    own: world.own.key,
    foreign: world.foreign.key,
    management: MANAGEMENT_KEY,
    admin: world.admin,
    member: world.member,
  })[key]

export const placeOf = (world: World, key: Key): Place => (key === 'foreign' ? world.foreign : world.own)

/** The text without the parts that differ between two replies of the same meaning. */
export const worded = (text: string, id: string): string =>
  text.replaceAll(id, '‹id›').replace(/"request_id":"req-[0-9a-f]{32}"/, '')
