import { LOG_LEVELS, type LogLevel } from '../../core/log-level.ts'
import * as read from '../readers.ts'
import { optional, type Setting, setting } from '../setting.ts'

const HOUR_MS = 3_600_000
const noRanges: readonly string[] = []
export type LogFormat = 'auto' | 'json' | 'text'

/** Address, data folder, logging and shutdown. */
export const serverSettings = {
  host: setting({
    variable: 'SLUICE_HOST',
    flag: '--host <address>',
    type: 'address or name',
    fallback: '127.0.0.1',
    read: read.listenHost,
    meaning:
      'Address to listen on. An address that other machines can reach needs a secret key and both bootstrap keys.',
  }),
  port: setting({
    variable: 'SLUICE_PORT',
    flag: '--port <number>',
    type: 'number',
    fallback: 4141,
    read: read.wholeNumber(0, 65_535),
    meaning: 'Port to listen on. `0` takes a free one.',
  }),
  publicUrl: optional({
    variable: 'SLUICE_PUBLIC_URL',
    flag: '--public-url <url>',
    type: 'URL',
    read: read.webAddress,
    meaning: 'Address under which others reach this server, for links and redirects. Default: host and port.',
  }),
  basePath: setting({
    variable: 'SLUICE_BASE_PATH',
    flag: '--base-path <path>',
    type: 'path',
    fallback: '',
    read: read.pathPrefix,
    meaning: 'Serves everything below this path, such as `/sluice`.',
  }),
  trustedProxies: setting({
    variable: 'SLUICE_TRUSTED_PROXIES',
    type: 'addresses, CIDRs',
    fallback: noRanges,
    read: read.listOf('addresses or CIDR ranges', read.addressRange),
    meaning: 'Reverse proxies whose `X-Forwarded-For` header is trusted.',
  }),
  corsOrigins: setting({
    variable: 'SLUICE_CORS_ORIGINS',
    type: 'origins, or `*`',
    fallback: noRanges,
    read: read.listOf('origins such as https://app.example.org, or *', read.webOrigin),
    meaning: 'Web pages of these origins may call the API with a key, never with cookies. Default: none.',
  }),
  data: setting({
    variable: 'SLUICE_DATA',
    flag: '--data <folder>',
    type: 'folder',
    fallback: './sluice-data',
    read: read.text('the path of a folder', (value) => value !== ''),
    meaning: 'Data folder: database, files and secret key. Created at the first start.',
  }),
  logLevel: setting<LogLevel>({
    variable: 'SLUICE_LOG_LEVEL',
    flag: '--log-level <level>',
    type: '`trace` … `fatal`',
    fallback: 'info',
    read: read.oneOf(...LOG_LEVELS),
    meaning: 'Lowest level that is logged. No level logs a prompt or a key.',
  }),
  logFormat: setting<LogFormat>({
    variable: 'SLUICE_LOG_FORMAT',
    type: '`auto`, `json`, `text`',
    fallback: 'auto',
    read: read.oneOf('auto', 'json', 'text'),
    meaning:
      'Form of a log line: one JSON object, or text for people. `auto`: text on a terminal, JSON if stdout is a pipe or a file.',
  }),
  shutdownGraceMs: setting({
    variable: 'SLUICE_SHUTDOWN_GRACE_MS',
    type: 'milliseconds',
    fallback: 30_000,
    read: read.wholeNumber(0, 24 * HOUR_MS, 'milliseconds'),
    meaning: 'How long running requests may continue after SIGTERM.',
  }),
} satisfies Record<string, Setting<unknown>>
