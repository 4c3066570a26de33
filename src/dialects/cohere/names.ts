/** How the reasoning details of this dialect are marked: only details of this format are its own. */
export const REASONING_FORMAT = 'cohere-v2'

/** Names, once, what cannot be carried. */
export type LeaveOut = (name: string) => void
