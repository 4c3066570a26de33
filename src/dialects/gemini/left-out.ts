import { dropInto } from '../dropped.ts'

/** Names what cannot be carried, each name once. */
export type LeaveOut = (name: string) => void

export const leaveOutInto =
  (dropped: string[]): LeaveOut =>
  (name) =>
    dropInto(dropped, name)
