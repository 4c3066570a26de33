import { expect, test } from 'bun:test'
import { clientAddress, parseTrustedProxies } from '../../src/net/address.ts'

const PROXIES = parseTrustedProxies(['10.0.0.0/8', '2001:db8::1'])

test.each([
  [
    'a peer that is not a proxy is the client, whatever its header',
    '203.0.113.7',
    '198.51.100.1',
    '203.0.113.7',
  ],
  ['a trusted proxy is believed', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
  ['through two of them', '10.1.2.3', '198.51.100.1, 10.9.9.9', '198.51.100.1'],
  ['entries before the first stranger may be forged', '10.1.2.3', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
  ['a proxy without the header is the client itself', '10.1.2.3', null, '10.1.2.3'],
  ['words that are not an address end the reading', '10.1.2.3', 'unknown', '10.1.2.3'],
  ['IPv4 in IPv6 is IPv4', '::ffff:203.0.113.7', null, '203.0.113.7'],
  ['IPv6', '2001:db8::1', '2001:db8::99', '2001:db8::99'],
  ['no peer, no address', null, '198.51.100.1', null],
  ['a peer without an address (a Unix socket) has none', '/run/sluice.sock', '198.51.100.1', null],
])('%s', (_, peer, forwarded, client) => {
  expect(clientAddress(peer, forwarded, PROXIES)).toBe(client)
})

test('an entry that is not an address is named', () => {
  expect(() => parseTrustedProxies(['10.0.0.1', 'proxy.example'])).toThrow('"proxy.example" is neither')
})
