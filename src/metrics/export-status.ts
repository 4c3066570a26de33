/** Deliveries to one observability destination, since the start. */
export interface ExportStatus {
  /** The destination's name. */
  readonly destination: string
  readonly type: string
  readonly sent: number
  readonly failed: number
  /** By reason. */
  readonly dropped: Readonly<Record<string, number>>
  readonly lagSeconds: number
  readonly queuedBytes: number
}
