/** Names what cannot be carried, each name once. */
export type LeaveOut = (name: string) => void

export const leaveOutInto =
  (dropped: string[]): LeaveOut =>
  (name) => {
    if (!dropped.includes(name)) dropped.push(name)
  }
