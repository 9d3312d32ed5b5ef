import { createPublicKey, generateKeyPairSync, randomBytes, verify } from 'node:crypto';
import type { Access, App, Caller, Installation, Permissions, Repository, Role, Token, World } from './model.ts';
import { notFound, Refused } from './refused.ts';
import { hasRole } from './world.ts';

const MAX_JWT_SECONDS = 600;
const DRIFT_SECONDS = 60;

/** Finds the caller by the Authorization header. Invalid credentials are refused with 401. */
export function readCaller(world: World, authorization: string | undefined): Caller {
  if (authorization === undefined || authorization === '') return { kind: 'nobody' };
  const [scheme = '', value = ''] = authorization.split(' ');
  switch (scheme.toLowerCase()) {
    case 'basic':
      return (
        findAppOfClient(world, value) ??
        callerOfToken(world, Buffer.from(value, 'base64').toString().split(':').slice(1).join(':'))
      );
    case 'bearer':
    case 'token':
      return value.split('.').length === 3 ? callerOfJwt(world, value) : callerOfToken(world, value);
    default:
      throw new Refused(401, 'Bad credentials');
  }
}

/** An app that proves itself by its client id and secret. */
function findAppOfClient(world: World, value: string): Caller | undefined {
  const [id, secret] = Buffer.from(value, 'base64').toString().split(':');
  const app = world.apps.values().find(({ clientId, clientSecret }) => clientId === id && clientSecret === secret);
  return app && { kind: 'app', app, user: app.bot };
}

function callerOfToken(world: World, value: string): Caller {
  const token = world.tokens.get(value);
  if (token === undefined) throw new Refused(401, 'Bad credentials');
  if (token.kind === 'user') return token;
  const { installation } = token;
  if (token.expiresAt <= world.now() || world.installations.get(installation.id) !== installation)
    throw new Refused(401, 'Bad credentials');
  if (installation.suspendedAt !== undefined) throw new Refused(403, 'This installation has been suspended');
  const permissions = stillGranted(token.permissions, installation.permissions);
  return { kind: 'installation', user: installation.app.bot, installation, permissions };
}

/** A revoked permission is taken from all tokens at once. An added one comes only with new tokens. */
function stillGranted(given: Permissions, granted: Permissions): Permissions {
  const kept = Object.entries(given).flatMap(([name, access]) => {
    const now = granted[name];
    return now === undefined ? [] : [[name, ACCESS.indexOf(now) < ACCESS.indexOf(access) ? now : access] as const];
  });
  return Object.fromEntries(kept);
}

function callerOfJwt(world: World, jwt: string): Caller {
  const [header = '', payload = '', signature = ''] = jwt.split('.');
  const claims = parsePart(payload);
  const app = world.apps
    .values()
    .find(({ id, clientId }) => String(id) === String(claims['iss']) || clientId === claims['iss']);
  if (app === undefined) throw new Refused(404, 'Integration not found');
  const text = Buffer.from(`${header}.${payload}`);
  const isSigned = verify('RSA-SHA256', text, app.publicKey ?? '', Buffer.from(signature, 'base64url'));
  if (parsePart(header)['alg'] !== 'RS256' || !isSigned)
    throw new Refused(401, 'A JSON web token could not be decoded');
  checkTimes(claims, world.now() / 1000);
  return { kind: 'app', app, user: app.bot };
}

function checkTimes({ iat, exp }: Record<string, unknown>, now: number): void {
  if (typeof iat !== 'number' || iat > now + DRIFT_SECONDS)
    throw new Refused(
      401,
      "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
    );
  if (typeof exp !== 'number' || exp < now)
    throw new Refused(
      401,
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    );
  if (exp > now + MAX_JWT_SECONDS + DRIFT_SECONDS)
    throw new Refused(401, "'Expiration time' claim ('exp') is too far in the future");
}

function parsePart(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

export function payerOf(caller: Caller): string {
  switch (caller.kind) {
    case 'nobody':
      return 'nobody 0';
    case 'app':
      return `app ${caller.app.id}`;
    case 'user':
      return `user ${caller.user.id}`;
    case 'installation':
      return `installation ${caller.installation.id}`;
  }
}

export function whoIs(caller: Caller): string | undefined {
  if (caller.kind === 'nobody') return undefined;
  return caller.kind === 'app' ? `app/${caller.app.slug}` : caller.user.login;
}

export interface Need {
  /** An installation needs one of these permissions. */
  readonly permission: string | readonly string[];
  readonly access: Access;
  /** A person needs this role. */
  readonly role: Role;
}

const ACCESS: readonly Access[] = ['read', 'write', 'admin'];

/** Answers 404 when the caller may not see the repository, and 403 when they may not do this. */
export function authorize(caller: Caller, repository: Repository, need: Need): void {
  if (!canSee(caller, repository)) throw notFound();
  if (repository.isArchived && need.access !== 'read')
    throw new Refused(403, 'Repository was archived so is read-only.');
  if (caller.kind === 'installation') {
    const isForeign = !covers(caller.installation, repository);
    if (isForeign && need.access === 'read' && !repository.isPrivate) return;
    const isGranted = [need.permission].flat().some((name) => reaches(caller.permissions[name], need.access));
    if (isForeign || !isGranted) throw notAccessible(need);
    return;
  }
  if (caller.kind === 'user' && hasRole(repository, caller.user, need.role)) return;
  if (caller.kind === 'nobody') {
    if (need.role === 'read' && need.access === 'read') return;
    throw new Refused(401, 'Requires authentication');
  }
  throw new Refused(403, `Must have ${need.role} rights to Repository.`);
}

/** Names the permissions that would have been enough, like GitHub's header. */
function notAccessible({ permission, access }: Need): Refused {
  const accepted = [permission].flat().map((name) => `${name}=${access}`);
  return new Refused(403, 'Resource not accessible by integration', undefined, {
    'x-accepted-github-permissions': accepted.join('; '),
  });
}

function reaches(granted: Access | undefined, needed: Access): boolean {
  return granted !== undefined && ACCESS.indexOf(granted) >= ACCESS.indexOf(needed);
}

export function canSee(caller: Caller, repository: Repository): boolean {
  if (!repository.isPrivate) return caller.kind !== 'app';
  if (caller.kind === 'user') return hasRole(repository, caller.user, 'read');
  return caller.kind === 'installation' && covers(caller.installation, repository);
}

export function covers({ account, repositoryIds }: Installation, { id, owner }: Repository): boolean {
  return account === owner && (repositoryIds?.has(id) ?? true);
}

export function findInstallation(world: World, app: App, repository: Repository): Installation | undefined {
  return world.installations
    .values()
    .find((installation) => installation.app === app && covers(installation, repository));
}

export function issueInstallationToken(world: World, installation: Installation) {
  const value = `ghs_${randomBytes(27).toString('base64url').replaceAll(/[-_]/g, 'x')}`;
  const expiresAt = world.now() + world.options.tokenLifetimeMs;
  const token: Token = { kind: 'installation', installation, expiresAt, permissions: installation.permissions };
  world.tokens.set(value, token);
  return { value, expiresAt };
}

let shared: ReturnType<typeof createKeyPair> | undefined;

/** Generating keys is slow, and most tests can share one. */
export function sharedKeyPair() {
  shared ??= createKeyPair();
  return shared;
}

export function createKeyPair() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privateKey, publicKey: createPublicKey(publicKey) };
}
