import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { createBaseUrl, createClientAddress } from './base-url.ts';

function request(peer: string | undefined, headers: Record<string, string> = {}): FastifyRequest {
  const host = 'sluice.acme.dev';
  return { protocol: 'http', host, headers: { host, ...headers }, raw: { socket: { remoteAddress: peer } } } as never;
}

const HTTPS = { 'x-forwarded-proto': 'https' };

describe('the address in links', () => {
  it('is the configured one, also where a proxy names another scheme [H16]', () => {
    const baseUrlOf = createBaseUrl({ publicUrl: 'https://set.acme.dev', trustedProxies: ['10.0.0.0/8'] });
    assert.equal(baseUrlOf(request('10.1.2.3', { 'x-forwarded-proto': 'http' })), 'https://set.acme.dev');
  });

  it('trusts no proxy by default, not even this machine [H33]', () => {
    const baseUrlOf = createBaseUrl({ publicUrl: undefined, trustedProxies: [] });
    for (const peer of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.0.0.1', undefined]) {
      assert.equal(baseUrlOf(request(peer, HTTPS)), 'http://sluice.acme.dev', peer);
    }
  });

  const trustedProxies = ['192.0.2.7', '10.0.0.0/8', 'fd00::/8', '2001:db8::5'];
  const baseUrlOf = createBaseUrl({ publicUrl: undefined, trustedProxies });

  for (const peer of ['192.0.2.7', '10.255.0.1', '::ffff:10.0.0.1', 'fd12::1', '2001:db8::5', '2001:DB8:0::5']) {
    it(`has the scheme that the proxy ${peer} tells [H33]`, () => {
      assert.equal(baseUrlOf(request(peer, HTTPS)), 'https://sluice.acme.dev');
    });
  }

  for (const peer of ['192.0.2.8', '11.0.0.1', '::ffff:11.0.0.1', '2001:db8::6', '127.0.0.1', '::1', undefined]) {
    it(`is not changed by a scheme that ${peer} makes up [H33]`, () => {
      assert.equal(baseUrlOf(request(peer, HTTPS)), 'http://sluice.acme.dev');
    });
  }

  for (const [headers, scheme] of [
    [{ 'x-forwarded-proto': ' HTTPS , http' }, 'https'],
    [{ 'x-forwarded-proto': 'http,https' }, 'http'],
    [{ forwarded: 'for=192.0.2.60;proto=https;by=203.0.113.43' }, 'https'],
    [{ forwarded: 'For="[2001:db8::17]:4711" ; Proto="https", proto=http' }, 'https'],
    [{ forwarded: 'for=1.2.3.4', 'x-forwarded-proto': 'https' }, 'https'],
    [{ forwarded: 'proto=https', 'x-forwarded-proto': 'http' }, 'http'],
    [{ forwarded: 'for=1.2.3.4;notproto=https' }, 'http'],
    [{ 'x-forwarded-proto': 'javascript' }, 'http'],
    [{ 'x-forwarded-proto': '' }, 'http'],
    [{}, 'http'],
  ] as const) {
    it(`reads ${JSON.stringify(headers)} as ${scheme} [H33]`, () => {
      assert.equal(baseUrlOf(request('10.0.0.1', headers)), `${scheme}://sluice.acme.dev`);
    });
  }

  it('never has the host of such a header [H33]', () => {
    const headers = { ...HTTPS, 'x-forwarded-host': 'evil.test', forwarded: 'host=evil.test;proto=https' };
    assert.equal(baseUrlOf(request('10.0.0.1', headers)), 'https://sluice.acme.dev');
  });
});

describe('the address of a client', () => {
  const addressOf = createClientAddress(['10.0.0.0/8', 'fd00::/8']);
  const forwarded = (...hops: readonly string[]) => ({ 'x-forwarded-for': hops.join(', ') });
  for (const [name, peer, headers, expected] of [
    ['is its own without a proxy', '192.0.2.9', {}, '192.0.2.9'],
    ['is not what a stranger claims', '192.0.2.9', forwarded('198.51.100.1'), '192.0.2.9'],
    ['is what a trusted proxy says', '10.0.0.1', forwarded('198.51.100.1'), '198.51.100.1'],
    [
      'is what several say',
      '::ffff:10.0.0.1',
      forwarded('203.0.113.5', '198.51.100.1:4711', '10.9.9.9'),
      '198.51.100.1',
    ],
    ['is the proxy, if that says nothing usable', '10.0.0.1', forwarded('unknown'), '10.0.0.1'],
    ['is a network of IPv6', 'fd00::1', forwarded('[2001:db8:0:7::1]:443'), '2001:db8:0:7'],
    ['is the same network however it is written', '2001:DB8::1:0:0:1', {}, '2001:db8:0:0'],
  ] as const) {
    it(`${name} [A45]`, () => assert.equal(addressOf(request(peer, headers)), expected));
  }
});
