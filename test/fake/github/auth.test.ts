import assert from 'node:assert/strict';
import { createSign } from 'node:crypto';
import { describe, it } from 'node:test';
import { systemClock } from '../../../src/lib/clock.ts';
import { createApp } from './apps.ts';
import { createKeyPair, readCaller, sharedKeyPair } from './auth.ts';
import { Refused } from './refused.ts';
import { createWorld } from './world.ts';

const now = 1_700_000_000_000;
const world = createWorld({
  folder: '',
  clock: { ...systemClock, now: () => now },
  mergeability: 'lazy',
  tokenLifetimeMs: 3_600_000,
  validate: false,
});
const app = createApp(world, { slug: 'sluice' });
const { publicKey, privateKey } = sharedKeyPair();
app.publicKey = publicKey;

interface Claims {
  readonly iss?: string | number;
  readonly iat?: number;
  readonly exp?: number;
}

function jwt(claims: Claims = {}, key = privateKey): string {
  const seconds = Math.floor(now / 1000);
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${encode({ alg: 'RS256' })}.${encode({ iss: app.id, iat: seconds - 30, exp: seconds + 570, ...claims })}`;
  return `Bearer ${text}.${createSign('RSA-SHA256').update(text).sign(key).toString('base64url')}`;
}

function refused(authorization: string, status: number, message: RegExp): void {
  assert.throws(
    () => readCaller(world, authorization),
    (error) => error instanceof Refused && error.status === status && message.test(error.message),
  );
}

describe('authentication', () => {
  it('is the app, by its id or its client id', () => {
    assert.equal(readCaller(world, jwt()).kind, 'app');
    assert.equal(readCaller(world, jwt({ iss: String(app.id) })).kind, 'app');
    assert.equal(readCaller(world, jwt({ iss: app.clientId })).kind, 'app');
  });

  it('a wrong key, time or app is refused', () => {
    const seconds = Math.floor(now / 1000);
    refused(jwt({}, createKeyPair().privateKey), 401, /could not be decoded/);
    refused(jwt({ exp: seconds - 1 }), 401, /'exp'/);
    refused(jwt({ exp: seconds + 900 }), 401, /too far in the future/);
    refused(jwt({ iat: seconds + 90 }), 401, /'iat'/);
    refused(jwt({ iss: 7 }), 404, /Integration not found/);
    refused('Bearer a.b.c', 404, /Integration not found/);
    refused('Digest x', 401, /Bad credentials/);
  });
});
