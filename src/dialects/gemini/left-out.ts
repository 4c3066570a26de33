/** Names what cannot be carried, each name once. */
export type LeaveOut = (name: string) => void

export const leaveOutInto = (dropped: string[]): LeaveOut => {
  const named = new Set(dropped)
  return (name) => {
    if (named.has(name)) return
    named.add(name)
    dropped.push(name)
  }
}
