import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../src/core/errors.ts'
import { checkUrl, isReachable, parseOutboundAllow } from '../../src/net/address.ts'

/** Every spelling of what a stranger's URL may not reach (reliability: S7). */
const REFUSED = [
  // Schemes.
  'file:///etc/hostname',
  'data:text/plain,hi',
  'ftp://example.com/',
  's3://bucket/key',
  'blob:https://example.com/1',
  'gopher://example.com/',
  'javascript:alert(1)',
  'ws://example.com/',
  'unix:///var/run/docker.sock',
  '//example.com/',
  'example.com',
  '',
  // Loopback.
  'http://127.0.0.1/',
  'http://127.0.0.1:4141/api/v1/keys',
  'http://127.255.255.254/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.0.0.1/',
  'http://0177.0.0.1/',
  'http://017700000001/',
  'http://127.1/',
  'http://127.0.1/',
  'http://127.0.0.1./',
  'http://①②⑦.0.0.1/',
  'http://１２７.０.０.１/',
  'http://127。0。0。1/',
  'http://%31%32%37.0.0.1/',
  'http:///127.0.0.1/',
  'http:127.0.0.1',
  'http://[::1]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[::]/',
  // Private, link-local, shared, reserved.
  'http://0.0.0.0/',
  'http://0/',
  'http://0.1.2.3/',
  'http://10.0.0.1/',
  'http://10.255.255.255/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.0.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://0xa9fea9fe/',
  'http://2852039166/',
  'http://100.64.0.1/',
  'http://100.100.100.200/',
  'http://192.0.0.1/',
  'http://192.0.0.192/',
  'http://192.0.2.1/',
  'http://192.88.99.1/',
  'http://198.18.0.1/',
  'http://198.19.255.255/',
  'http://198.51.100.1/',
  'http://203.0.113.1/',
  'http://224.0.0.1/',
  'http://239.255.255.255/',
  'http://240.0.0.1/',
  'http://255.255.255.255/',
  'http://168.63.129.16/',
  'http://[fc00::1]/',
  'http://[fd00:ec2::254]/',
  'http://[fe80::1]/',
  'http://[fe80::1%25eth0]/',
  'http://[fec0::1]/',
  'http://[ff02::1]/',
  'http://[100::1]/',
  'http://[2001:db8::1]/',
  'http://[3fff::1]/',
  'http://[5f00::1]/',
  'http://[4000::1]/',
  // IPv4 wrapped in IPv6.
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::ffff:0:127.0.0.1]/',
  'http://[::ffff:8.8.8.8]/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::127.0.0.1]/',
  'http://[64:ff9b:1::10.0.0.1]/',
  'http://[2002:7f00:1::]/',
  'http://[2002:a00:1::1]/',
  'http://[2001:0:7f00:1::]/',
  // Names.
  'http://localhost/',
  'http://LOCALHOST:11434/',
  'http://localhost./',
  'http://localhost../',
  'http://ⓛocalhost/',
  'http://lo\u00adcalhost/',
  'http://localhost%2e/',
  'http://a.localhost/',
  'http://printer.local/',
  'http://printer.local./',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://instance-data.ec2.internal/',
  'http://db.internal/',
  // User-info, and spellings that readers disagree on.
  'http://user@example.com/',
  'http://user:password@example.com/',
  'http://:@example.com/',
  'http://example.com@127.0.0.1/',
  'http://example.com#@127.0.0.1/',
  'http://example.com\\@127.0.0.1/',
  'http:\\\\127.0.0.1\\',
  'https://example.com\\.evil.test/',
  'http://127.0.0.1#.example.com/',
  'http://127.0.0.1?.example.com/',
  'http://exa mple.com/',
  'http://exam\tple.com/',
  'http://example.com/\r\nx: y',
  ' http://example.com/',
  'http://',
  'http://?',
  'http://256.1.1.1/',
  'http://1.2.3.4.5/',
  'http://[::1/',
  'http://-a.example/',
  `http://${'a'.repeat(64)}.example/`,
  'http://example.com:99999/',
]

const ACCEPTED = [
  'https://example.com/',
  'HTTPS://Example.COM/Image.PNG?size=1@2x#top',
  'http://example.com:8080/a b.png',
  'https://example.com./',
  'https://bücher.example/',
  'https://under_score.example.com/',
  'https://8.8.8.8/dns-query',
  'http://172.15.255.255/',
  'http://172.32.0.1/',
  'http://100.63.255.255/',
  'http://100.128.0.1/',
  'http://[2606:4700:4700::1111]/',
  'https://localhost.example.com/',
  'https://notlocal/',
  'https://internal.example.com/',
  'https://example.com#top',
]

function refusalOf(url: string): unknown {
  try {
    return checkUrl(url).href
  } catch (error) {
    return error
  }
}

describe('a URL that a user gave', () => {
  test.each(REFUSED)('is refused: %p', (url) => {
    const refusal = refusalOf(url)
    expect(refusal).toBeInstanceOf(GatewayError)
    expect(refusal).toMatchObject({ status: 400 })
  })

  test.each(ACCEPTED)('is accepted: %p', (url) => {
    expect(checkUrl(url).href).toBe(new URL(url).href)
  })

  test('is refused with the place where it stood, without its text', () => {
    expect(() =>
      checkUrl('http://10.1.2.3/secret', undefined, 'messages[0].content[1].image_url.url'),
    ).toThrow(
      /^messages\[0\]\.content\[1\]\.image_url\.url: The URL leads to a private, local or reserved address/,
    )
    expect(String(refusalOf('http://10.1.2.3/secret'))).not.toContain('10.1.2.3')
  })
})

describe('the operator’s exceptions', () => {
  const allow = parseOutboundAllow([' Ollama.Internal ', '10.1.0.0/16', '192.168.7.7', '[::1]', 'fd12::/16'])

  const CASES: [url: string, isAllowed: boolean][] = [
    ['http://ollama.internal:11434/', true],
    ['http://OLLAMA.internal./', true],
    ['http://x.ollama.internal/', false],
    ['http://10.1.255.1/', true],
    ['http://10.2.0.1/', false],
    ['http://0x0a010001/', true],
    ['http://192.168.7.7/', true],
    ['http://192.168.7.8/', false],
    ['http://[::1]:9/', true],
    ['http://[fd12:3::4]/', true],
    ['http://[fd13::4]/', false],
    ['http://[::ffff:10.1.0.1]/', false],
    ['http://user@10.1.0.1/', false],
    ['file://ollama.internal/etc/passwd', false],
  ]

  test.each(CASES)('%p: %p', (url, isAllowed) => {
    if (isAllowed) expect(checkUrl(url, allow).hostname).not.toBe('')
    else expect(() => checkUrl(url, allow)).toThrow(GatewayError)
  })

  test.each([
    '',
    '10.0.0.0/33',
    '127.1',
    '0x7f000001',
    'http://a.example',
    'a b',
    '*',
    '10.0.0.0/8/8',
    ':::1',
  ])('an entry that is not a host, address or CIDR is named: %p', (entry) => {
    expect(() => parseOutboundAllow(['example.com', entry])).toThrow(`"${entry}" is neither`)
  })
})

test('text that is not an address is not reachable', () => {
  const nothing = parseOutboundAllow([])
  expect(['', 'example.com', '999.1.1.1'].map((text) => isReachable(text, nothing))).toEqual([
    false,
    false,
    false,
  ])
})
