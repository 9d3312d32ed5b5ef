import { readFileSync } from 'node:fs';
import { SLUICE } from '../lib/sluice-command.ts';
import { Client } from './core/client.ts';
import { local } from './core/command.ts';
import type { GlobalOptions } from './core/context.ts';
import { CliError, EXIT } from './core/exit.ts';
import { type Hosts, hostsFileOf, readHosts, writeHosts } from './core/hosts.ts';
import { parseAddress } from './core/server-address.ts';
import { clean, formatTime, say, write } from './core/terminal.ts';
import { checkToken, readNamedFile } from './core/token-source.ts';

export const LOGIN = local({
  text: 'Keep the address of a server and a token for it, in a file that only you can read. Commands then call this server. The token is asked for on the terminal, or read from standard input or --token-file.',
  takes: { '<url>': 'The address of the server; https:// may be left out.' },
  examples: [
    'sluice login https://sluice.acme.dev',
    'sluice login sluice.acme.dev < token.txt',
    'sluice login http://127.0.0.1:8080 --token-file data/admin-token',
  ],
  start: ({ url }, globals) => login(url, globals),
});

// SPEC W25
async function login(given: string, { tokenFile, json }: GlobalOptions): Promise<void> {
  const url = parseAddress(withScheme(given));
  // A damaged file is refused before a token is asked for.
  const hosts = readHosts(process.env);
  const secret = tokenFile === undefined ? await askSecret(`Token for ${url}: `) : readNamedFile(tokenFile);
  const token = checkToken(secret.trim(), tokenFile ?? 'the input');
  const caller = await describeCaller(new Client({ url, token: () => token }));
  writeHosts(process.env, { current: url, tokens: { ...hosts.tokens, [url]: token.secret } });
  if (json) write(JSON.stringify({ url, file: hostsFileOf(process.env), caller }, null, 2));
  else write(`Logged in to ${url}${caller === undefined ? '.' : formatCaller(caller)}\nNext: ${SLUICE} status`);
}

/** A server on this machine speaks http, any other one https. */
function withScheme(text: string): string {
  if (/^[a-z]+:\/\//i.test(text)) return text;
  return /^(?:localhost|127\.|\[::1\])/.test(text) ? `http://${text}` : `https://${text}`;
}

type Caller = NonNullable<Awaited<ReturnType<typeof askServer>>['caller']>;

function askServer(client: Client) {
  return client.call('getServer', {});
}

/** Undefined if the token is good, and may not read who it is. */
async function describeCaller(client: Client): Promise<Caller | undefined> {
  try {
    return (await askServer(client)).caller;
  } catch (error) {
    const code = error instanceof CliError ? (error.problem as { code?: string } | undefined)?.code : undefined;
    if (code === 'INSUFFICIENT_SCOPE') return undefined;
    throw error;
  }
}

function formatCaller({ name, organization, scopes, expiresAt }: Caller): string {
  const expiry = expiresAt === null ? '' : ` It expires ${formatTime(expiresAt)}.`;
  return ` as ${clean(name)} of ${clean(organization)}. Scopes: ${scopes.join(', ')}.${expiry}`;
}

export const LOGOUT = local({
  text: 'Forget the token that `sluice login` keeps. The token itself stays good: `sluice token revoke` ends it.',
  takes: { '[url]': 'The address of the server. Default: that of the last login.' },
  examples: ['sluice logout', 'sluice logout https://sluice.acme.dev'],
  start: ({ url }) => logout(url),
});

// SPEC W25
function logout(given: string | undefined): void {
  const hosts = readHosts(process.env);
  const url = given === undefined ? hosts.current : parseAddress(withScheme(given));
  const { [url ?? '']: token, ...tokens } = hosts.tokens;
  if (url === undefined || token === undefined) {
    const known = Object.keys(hosts.tokens).join(', ');
    throw new CliError(
      EXIT.refused,
      `There is no login${url === undefined ? '' : ` at ${url}`}. ${known === '' ? '' : `There are: ${known}.`}`.trim(),
    );
  }
  writeHosts(process.env, forget(hosts, url, tokens));
  say(`Logged out of ${url}. The token itself is still good: revoke it with \`sluice token revoke\`.`);
}

function forget({ current }: Hosts, url: string, tokens: Hosts['tokens']): Hosts {
  return { current: current === url ? Object.keys(tokens).at(-1) : current, tokens };
}

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const DELETE = new Set(['\u007f', '\b']);

/** A line that is typed or pasted on the terminal without being shown; without a terminal, all of standard input. */
export async function askSecret(question: string): Promise<string> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) return readFileSync(0, 'utf8');
  // The echo goes off before the question shows, so that a token pasted at once is hidden too.
  stdin.setRawMode(true);
  try {
    stderr.write(question);
    return await readHiddenLine(stdin);
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write('\n');
  }
}

async function readHiddenLine(input: AsyncIterable<unknown>): Promise<string> {
  let line = '';
  for await (const chunk of input) {
    for (const character of String(chunk)) {
      if (character === CTRL_C) throw new CliError(EXIT.refused, 'Nothing was changed.');
      if (character === '\r' || character === '\n' || character === CTRL_D) return line;
      line = DELETE.has(character) ? line.slice(0, -1) : line + character;
    }
  }
  return line;
}
