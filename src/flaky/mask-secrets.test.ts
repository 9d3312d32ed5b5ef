import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maskSecrets } from './mask-secrets.ts';

/** Joined from pieces, so that secret scanners do not report this file. */
const joined = (...parts: readonly string[]) => parts.join('');
const LETTERS = 'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY';

const secrets: readonly (readonly [string, string])[] = [
  [joined('push with ghp', '_', LETTERS), 'push with ***'],
  [joined('github', '_pat_', LETTERS, ' expired'), '*** expired'],
  [joined('glpat', '-', LETTERS), '***'],
  [joined('AKI', 'AIOSFODNN7EXAMPLE denied'), '*** denied'],
  [joined('token eyJ', 'hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.', LETTERS), 'token ***'],
  [joined('xox', 'b-1234567890-abcdef'), '***'],
  [joined('slc', '_', LETTERS), '***'],
  [joined('sk', '_live_', LETTERS), '***'],
  ['GET https://bob:hunter2@example.com/x failed', 'GET https://***@example.com/x failed'],
  ['postgres://app:s3cr:et@db:5432/shop', 'postgres://***@db:5432/shop'],
  ['Authorization: Basic dXNlcjpwYXNz', 'Authorization: Basic ***'],
  ['{"Authorization":"Bearer abcdef0123456789"}', '{"Authorization":"Bearer ***"}'],
  ['curl -H "x-api-key: 12345"', 'curl -H "x-api-key: ***"'],
  ['DB_PASSWORD=hunter2 npm test', 'DB_PASSWORD=*** npm test'],
  ['{"password": "hunter2"}', '{"password": "***"}'],
  ['aws_secret_access_key = wJalrXUtnFEMI/K7MDENG', 'aws_secret_access_key = ***'],
  ['client_secret: "abc123def"', 'client_secret: "***"'],
  ['https://x.example/cb?token=abcd1234&state=1', 'https://x.example/cb?token=***&state=1'],
  [
    joined('key:\n-----BEGIN RSA PRIVATE', ' KEY-----\nMIIE\nabc\n-----END RSA PRIVATE', ' KEY-----\nafter'),
    'key:\n-----BEGIN PRIVATE KEY-----***\nafter',
  ],
  [joined('-----BEGIN PRIVATE', ' KEY-----\nMIIE cut sho'), '-----BEGIN PRIVATE KEY-----***'],
];

const harmless = [
  'Unexpected token: foo at position 3',
  'SyntaxError: Unexpected token < in JSON',
  'expected password to be undefined',
  'token = null',
  'at Object.<anonymous> (/app/cart.js:1:2)',
  'see https://example.com/a@b',
  'Secrets: none',
];

describe('secrets in failure texts', () => {
  for (const [text, masked] of secrets) {
    it(`masks ${masked.split('\n')[0]} [F20]`, () => assert.equal(maskSecrets(text), masked));
  }
  for (const text of harmless) {
    it(`leaves "${text}" as it is`, () => assert.equal(maskSecrets(text), text));
  }

  it('reads hostile texts in time [F20]', () => {
    for (const piece of [
      'eyJ',
      'eyJ-',
      'a:',
      '://a:',
      'password',
      'password=',
      '-----BEGIN PRIVATE KEY-----',
      'authorization: ',
      ' ',
      '_',
      'x.',
    ]) {
      maskSecrets(piece.repeat(Math.ceil(200_000 / piece.length)));
    }
  });
});
