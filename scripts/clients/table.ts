/** One line of the table. */
export interface Row {
  readonly client: string
  readonly version: string
  /** The surface of a library, or how an agent was configured. */
  readonly way: string
  readonly cells: Readonly<Record<string, string>>
  /** What failed, in full; the cell says only NO. */
  readonly faults: readonly string[]
}

const escaped = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
const line = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`

export function markdown(rows: readonly Row[], columns: readonly string[]): string {
  const head = [
    'Client',
    'Version',
    'Through',
    ...columns.map((name) => `${name[0]?.toUpperCase()}${name.slice(1)}`),
  ]
  const body = rows.map(({ client, version, way, cells }) =>
    line([client, version, way, ...columns.map((name) => cells[name] ?? '–')]),
  )
  return [line(head), line(head.map(() => '---')), ...body].join('\n')
}

/** No credential and no setting of the user reaches a client, and no client reaches anything but loopback. */
export function bareEnvironment(home: string): Record<string, string> {
  const nowhere = 'http://127.0.0.1:9'
  const loopback = '127.0.0.1,localhost'
  return {
    PATH: process.env.PATH ?? '',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    NO_COLOR: '1',
    HOME: home,
    TMPDIR: home,
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    http_proxy: nowhere,
    https_proxy: nowhere,
    NO_PROXY: loopback,
    no_proxy: loopback,
    DO_NOT_TRACK: '1',
  }
}
