// The command `sluice` as people and scripts run it: a child process against a real server and a real repository.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { listen } from '../helpers/listen.ts';
import { SLUICE_BIN } from '../helpers/sluice-command.ts';
import { makeFolder } from './harness.ts';
import { type Ran, type RunOptions, sluice } from './kept-sluice.ts';
import { useServer } from './test-queue.ts';

const QUEUE = ['local/acme/app', 'main'];

/** A pipeline of the shell, with the command as `"$0" "$1"`. */
function runShell(script: string, env: Readonly<Record<string, string>>): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env['PATH'], HOME: tmpdir(), ...env } };
    execFile('sh', ['-c', script, process.execPath, SLUICE_BIN], options, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

/** A bare repository with a branch main and the pull requests 7 and 8. */
function createRepository(folder: string): void {
  const git = (...args: string[]): void => {
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@acme.dev', '-c', 'init.defaultBranch=main'];
    execFileSync('git', [...identity, ...args], { cwd: folder, env: { PATH: process.env['PATH'], HOME: folder } });
  };
  git('init', '--quiet', '--bare', 'app.git');
  git('init', '--quiet', 'work');
  const work = ['-C', 'work'];
  git(...work, 'commit', '--quiet', '--allow-empty', '-m', 'First');
  git(...work, 'push', '--quiet', '../app.git', 'HEAD:refs/heads/main');
  git(...work, 'commit', '--quiet', '--allow-empty', '-m', 'Teach the parser about tabs');
  git(...work, 'push', '--quiet', '../app.git', 'HEAD:refs/pull/7/head');
  git(...work, 'commit', '--quiet', '--allow-empty', '-m', 'A title with \u001b[31mcolour');
  git(...work, 'push', '--quiet', '../app.git', 'HEAD:refs/pull/8/head');
}

describe('sluice against a server', () => {
  const world = useServer();
  let folder: string;
  let env: Readonly<Record<string, string>>;

  before(async () => {
    folder = await makeFolder();
    createRepository(folder);
    env = { SLUICE_URL: world.server.url, SLUICE_DATA: world.server.dataFolder };
  });

  const ok = async (args: readonly string[], options: RunOptions = {}): Promise<string> => {
    const { code, out, err } = await sluice(args, { env, cwd: folder, ...options });
    assert.equal(code, 0, `sluice ${args.join(' ')}: ${err}`);
    return out;
  };

  const fails = async (expected: number, args: readonly string[], options: RunOptions = {}): Promise<string> => {
    const { code, err } = await sluice(args, { env, cwd: folder, ...options });
    assert.equal(code, expected, `sluice ${args.join(' ')}: ${err}`);
    assert.notEqual(err, '');
    assert.doesNotMatch(err, /\n\s+at /, 'a stack is nothing for people');
    return err;
  };

  it('tells the whole story of a pull request [K24] [K25] [K29] [Q41] [O18]', async () => {
    assert.match(await ok(['status']), /ready[\s\S]*No queues yet/);

    const added = await ok(['repo', 'add', QUEUE[0] as string, '--git', './app.git', '--junit', 'reports/*.xml']);
    assert.ok(added.includes(join(folder, 'app.git')), 'a relative path is resolved here, not by the server');
    assert.match(added, /Next: sluice queue create local\/acme\/app main\n/);
    assert.match(await ok(['repo', 'list']), /^local\/acme\/app\t.*app\.git\t/);

    const bare = await ok(['queue', 'create', ...QUEUE]);
    assert.match(
      bare,
      /error +No check is required, .*\n\nNext, .*: sluice queue update local\/acme\/app main --required/,
    );
    assert.doesNotMatch(bare, /pr submit/);
    await ok(['queue', 'delete', ...QUEUE]);

    const settings = ['--mode', 'parallel', '--concurrency', '8', '--batch', '--required-statuses', 'ci,lint'];
    const created = await ok(['queue', 'create', ...QUEUE, ...settings, '--bisection-concurrency', 'none']);
    assert.match(created, /local\/acme\/app main {2}RUNNING/);
    assert.doesNotMatch(await ok(['repo', 'add', QUEUE[0] as string]), /Next:/, 'it has a queue');
    assert.match(created, /mode +PARALLEL\nconcurrency +8\nbatch +true\nrequiredStatuses +ci, lint\n/);
    assert.match(
      created,
      /\nNext: .*\nLet the queue size its own groups: .* main --optimization-mode ADAPTIVE --run-cost 2\n$/,
    );
    const adaptive = await ok(['queue', 'update', ...QUEUE, '--optimization-mode', 'ADAPTIVE', '--run-cost', '0.5']);
    assert.match(
      adaptive,
      /RUNNING\nNothing is known about .*\n[\s\S]*batch +true \(not used in this mode\)[\s\S]*runCost +0\.5/,
    );
    assert.match(await ok(['status']), /\n\nlocal\/acme\/app main\nNothing is known about this queue yet\.\n$/);
    assert.match(
      await ok(['queue', 'advise', ...QUEUE]),
      /^Tests have decided 0 pull requests of this queue\. .* 30 .*\n$/,
    );
    const back = ['--mode', 'single', '--no-batch', '--optimization-mode', 'off'];
    assert.match(await ok(['queue', 'update', ...QUEUE, ...back]), /concurrency +8\n/);

    assert.match(await ok(['queue', 'pause', ...QUEUE, '--reason', 'release 4.2', '--until', '2h']), /is PAUSED/);
    assert.match(await ok(['queue', 'show', ...QUEUE]), /^PAUSED by admin \(\S+Z\), ends \S+Z: release 4\.2$/m);
    assert.match(
      await ok(['pr', 'submit', ...QUEUE, '7', '-p', 'high', '--no-batch']),
      /#7 Teach the parser.*NOT_READY/,
    );
    assert.match(
      await ok(['pr', 'submit', ...QUEUE, '7', '-p', 'urgent', '--dry-run']),
      /^#7: It does not start yet\. The queue has been paused .* Once it starts, it goes ahead of the others\.\n$/,
    );
    const waiting = await ok(['pr', 'status', ...QUEUE, '7']);
    assert.match(waiting, /State +Submitted, not ready yet \(NOT_READY\)/);
    assert.match(waiting, /Priority +high \(10\), never in a batch/);
    assert.match(waiting, /The queue has been paused since .*, by admin: release 4\.2\./);
    assert.match(waiting, /^\d{4}-\d\d-\d\dT\S+Z\tNOT_READY\tSubmitted .*\tadmin\n/m);

    assert.match(await ok(['queue', 'resume', ...QUEUE]), /is RUNNING/);
    assert.match(await ok(['pr', 'status', ...QUEUE, '#7']), /Position +1\n/);
    assert.match(
      await ok(['queue', 'show', ...QUEUE]),
      /^#7\t(?:PENDING|TESTING)\t.*high\tAda\tTeach the parser about tabs/m,
    );
    assert.match(await ok(['status']), /^local\/acme\/app\tmain\tRUNNING\t0\t\d\t\d\t0\t0$/m);
    assert.match(
      await fails(1, ['queue', 'delete', ...QUEUE]),
      /still has a pull request\. Let them land, or cancel them with `sluice pr cancel`, first/,
    );
    assert.match(
      await ok(['queue', 'update', ...QUEUE, '--mode', 'parallel']),
      /Changed\. The mode changes when the pull requests .* have landed or left[\s\S]*SWITCHING_MODES/,
    );

    const urgent = await sluice(['pr', 'submit', ...QUEUE, '7', '-p', 'urgent'], { env, cwd: folder });
    assert.deepEqual([urgent.code, /No run is interrupted\.\n$/.test(urgent.err)], [0, true], urgent.err);
    assert.match(await ok(['pr', 'cancel', ...QUEUE, '7']), /CANCELLED/);
    assert.match(await ok(['pr', 'list', ...QUEUE, '--state', 'cancelled', '--since', '1d']), /^#7\tCANCELLED\t/);
    assert.match(await ok(['queue', 'drain', ...QUEUE]), /is DRAINING/);
    assert.match(await fails(1, ['repo', 'remove', QUEUE[0] as string]), /queue/);
    assert.match(await ok(['queue', 'delete', ...QUEUE]), /is deleted/);
    assert.match(await ok(['repo', 'remove', QUEUE[0] as string]), /is forgotten/);
  });

  describe('with a queue', () => {
    before(async () => {
      const added = ['repo', 'add', QUEUE[0] as string, '--git', join(folder, 'app.git')];
      await ok([...added, '--check', 'test=exit 0', '--check-timeout', '5']);
      await ok(['queue', 'create', ...QUEUE, '--required-statuses', 'ci']);
      await ok(['queue', 'pause', ...QUEUE]);
      await ok(['pr', 'submit', ...QUEUE, '8']);
    });

    it('prints the JSON of the server with --json, wherever it stands', async () => {
      const ref = { repo: { host: 'local', owner: 'acme', name: 'app' }, targetBranch: 'main' };
      assert.deepEqual(
        JSON.parse(await ok(['queue', 'show', ...QUEUE, '--json'])),
        await world.server.api.ok('getQueue', ref),
      );
      assert.deepEqual(JSON.parse(await ok(['--json', 'queue', 'list'])), await world.server.api.ok('listQueues', {}));
      const record = JSON.parse(await ok(['pr', 'status', ...QUEUE, '8', '--json']));
      assert.equal(record.explanation.summary.length > 0 && record.timeline[0].actor, 'admin');
      const { repositories } = JSON.parse(await ok(['repo', 'list', '--json']));
      assert.deepEqual(repositories[0].checks, [
        {
          ...{ name: 'test', command: 'exit 0', prepare: null, timeoutMinutes: 5 },
          ...{ network: false, userNamespaces: false, cache: null, selects: null, tools: [] },
        },
      ]);
      const status = JSON.parse(await ok(['status', '--json']));
      assert.deepEqual([status.url, status.ready, status.queues.length], [world.server.url, true, 1]);
      const refused = await sluice(['queue', 'show', 'local/acme/app', 'none', '--json'], { env });
      assert.deepEqual([refused.code, JSON.parse(refused.out).code], [1, 'QUEUE_NOT_FOUND']);
    });

    it('lets no title write to the terminal', async () => {
      const text = await ok(['queue', 'show', ...QUEUE]);
      assert.match(text, /#8\t.*A title with/);
      assert.ok(!text.includes('\u001b'));
    });

    it('changes settings of every kind', async () => {
      const args = ['--enqueueing-label', 'go', '--allowed-bot-submitters', 'a', '--allowed-bot-submitters', 'b,c'];
      const rules = ['--batching-rules', '//infra/*', '--batching-rules', '//db'];
      const more = ['--merge-method', 'merge-commit', '--bisection-concurrency', '3', '--no-comments-enabled'];
      const json = await ok([
        'queue',
        'update',
        ...QUEUE,
        ...args,
        ...rules,
        ...more,
        '--required-statuses',
        '',
        '--json',
      ]);
      const queue = JSON.parse(json);
      assert.deepEqual(queue.allowedBotSubmitters, ['a', 'b', 'c']);
      assert.deepEqual(queue.batchingRules, [
        { targetPattern: '//infra/*', policy: 'ISOLATE' },
        { targetPattern: '//db', policy: 'ISOLATE' },
      ]);
      assert.deepEqual(queue.requiredStatuses, []);
      assert.match(await ok(['queue', 'show', ...QUEUE, '--settings']), /requiredStatuses +none\n/);
      assert.deepEqual(
        [queue.enqueueingLabel, queue.mergeMethod, queue.bisectionConcurrency],
        ['go', 'MERGE_COMMIT', 3],
      );
      assert.equal(queue.commentsEnabled, false);
      const back = JSON.parse(
        await ok(['queue', 'update', ...QUEUE, '--delete-required-statuses', '--batching-rules', '', '--json']),
      );
      assert.deepEqual([back.requiredStatuses, back.batchingRules], [null, []]);
      assert.match(
        await ok(['queue', 'show', ...QUEUE, '--settings']),
        /requiredStatuses +as the repository or the forge says\n/,
      );
    });

    it('sets impacted targets from options, a file and standard input, and refuses an empty file', async () => {
      const targets = (...args: string[]): string[] => ['pr', 'targets', ...QUEUE, '8', ...args, '--json'];
      const read = async (args: string[], input?: string): Promise<unknown> =>
        JSON.parse(await ok(args, input === undefined ? {} : { input })).impactedTargets;
      assert.partialDeepStrictEqual(await read(targets('--target', '//a', '--target', '//b')), { count: 2 });
      await writeFile(join(folder, 'targets'), '//a\r\n\n  //b\n//c');
      assert.partialDeepStrictEqual(await read(targets('--targets-file', 'targets')), { count: 3 });
      assert.partialDeepStrictEqual(await read(targets('--targets-file', '-'), '//x\n'), { count: 1 });
      assert.partialDeepStrictEqual(await read(targets('--all')), { impactsAll: true });
      assert.partialDeepStrictEqual(await read(targets('--none')), { impactsAll: false, count: 0 });
      assert.match(await fails(2, targets('--targets-file', '-'), { input: '\n \n' }), /names no target.*--none/s);
      assert.match(await fails(2, targets('--targets-file', 'nowhere')), /cannot be read/);
      assert.match(await fails(2, targets()), /exactly one/);
      assert.match(await fails(2, targets('--all', '--none')), /exactly one/);
    });

    it('ends silently when the reader of its output is gone', async () => {
      const script = '{ "$0" "$1" queue show local/acme/app main --settings; echo "code $?" >&2; } | true';
      const closed = await runShell(script, env);
      assert.deepEqual(closed, { code: 0, out: '', err: 'code 0\n' });
      const head = await runShell('"$0" "$1" queue update --help | head -1', env);
      assert.deepEqual(head, { code: 0, out: 'Usage: sluice queue update [options] [repo] [branch]\n', err: '' });
    });

    it('exits with 3 and one sentence when the output cannot be written', {
      skip: !existsSync('/dev/full'),
    }, async () => {
      const script = '"$0" "$1" queue list >/dev/full';
      const full = await runShell(script, env);
      const text = 'sluice: The answer cannot be written to standard output: no space is left there.\n';
      assert.deepEqual(full, { code: 3, out: '', err: text });
    });

    it('takes the base of the API for the address of the server', async () => {
      for (const end of ['/', '/v1', '/v1/']) {
        const { url } = JSON.parse(
          await ok(['status', '--json'], { env: { ...env, SLUICE_URL: world.server.url + end } }),
        );
        assert.equal(url, world.server.url);
      }
    });

    it('says commands and options where the server says operations and fields', async () => {
      assert.match(await fails(1, ['queue', 'show', 'local/acme/app', 'none']), /with `sluice queue create` first/);
      assert.match(await fails(1, ['queue', 'create', ...QUEUE]), /with `sluice queue update`/);
    });

    it('exits with 1 and every problem when the server refuses', async () => {
      const text = await fails(1, ['queue', 'update', ...QUEUE, '--concurrency', '0', '--batching-min-size', '0']);
      assert.match(
        text,
        /^sluice: --concurrency must be[\s\S]* {2}--concurrency must be .*\n {2}--batching-min-size must be /,
      );
      assert.match(await fails(1, ['pr', 'restart', ...QUEUE, '8']), /NOT_READY/);
      assert.match(await fails(1, ['pr', 'status', ...QUEUE, '99']), /99/);
    });

    it('exits with 2 on wrong usage', async () => {
      const update = ['queue', 'update', ...QUEUE];
      const token = ['token', 'create', '--name', 'x'];
      const cases: readonly (readonly [args: readonly string[], expected: RegExp])[] = [
        [[], /Usage: sluice/],
        [['quue'], /unknown command 'quue'\n\(Did you mean queue\?\)/],
        [['queue', 'shwo'], /Did you mean show/],
        [['queue', 'show', 'acme/app', 'main'], /host\/owner\/name/],
        [['pr', 'status', 'local/acme/app'], /number of the pull request/],
        [['pr', 'status'], /Say which pull request/],
        [['queue', 'show', ...QUEUE, 'more'], /too many arguments/],
        [update, /Say what to change/],
        [[...update, '--mode', 'fast'], /single, parallel/],
        [[...update, '--concurrency', 'many'], /whole number/],
        [[...update, '--concurency', '3'], /Did you mean --concurrency/],
        [['pr', 'submit', ...QUEUE, 'seven'], /number of the pull request/],
        [['pr', 'submit', ...QUEUE, '7', '-p', '256'], /--priority.*urgent, high, medium, low/],
        [['pr', 'list', ...QUEUE, '--limit', '0'], /--limit.*from 1 to 100/],
        [['pr', 'list', ...QUEUE, '--state', 'gone'], /--state.*merged/],
        [['help', 'nope'], /unknown command 'nope'/],
        [['help', 'queue', 'nope'], /Usage: sluice queue/],
        [['repo', 'add', 'local/a/b', '--check', 'npm test'], /NAME='shell command'/],
        [['repo', 'add', 'local/a/b', '--check-timeout', '5'], /--check/],
        [token, /--scope/],
        [[...token, '--scope', 'read,foo'], /--scope.*read, upload, evidence, targets/],
        [[...token, '--scope', 'read', '--expires', 'soon'], /90d/],
        [['completion', 'powershell'], /bash, zsh, fish/],
        [['status', '--url', 'ftp://x'], /not the address of a server/],
        [['queue', 'list', '--token-file', 'nowhere'], /cannot be read/],
      ];
      await Promise.all(cases.map(async ([args, expected]) => assert.match(await fails(2, args), expected)));
    });

    it('never takes a token as an argument, and does not repeat it', async () => {
      for (const args of [
        ['--token', 'slc_secret', 'status'],
        ['status', '--token=slc_secret'],
      ]) {
        const text = await fails(2, args);
        assert.match(text, /never an argument.*SLUICE_TOKEN.*--token-file/);
        assert.doesNotMatch(text, /slc_secret/);
      }
    });

    it('exits with 4 without a token, with a wrong one and with one that may not', async () => {
      const elsewhere = { env: { SLUICE_URL: world.server.url }, cwd: folder };
      assert.match(
        await fails(4, ['queue', 'list'], elsewhere),
        /SLUICE_TOKEN \(not set\).*data.admin-token \(no such file\)/,
      );
      assert.match(
        await fails(4, ['queue', 'list'], { env: { ...env, SLUICE_TOKEN: 'slc_wrong' } }),
        /came from SLUICE_TOKEN/,
      );
      assert.match(await fails(4, ['queue', 'list'], { env: { ...env, SLUICE_TOKEN: 'two words' } }), /not a token/);
      const status = await sluice(['status'], elsewhere);
      assert.equal(status.code, 4);
      assert.match(status.out, /State +ready/, 'what is known without a token is shown');

      const created = await sluice(
        ['token', 'create', '--name', 'ci', '--scope', 'upload', '--repo', QUEUE[0] as string, '--expires', '90d'],
        { env },
      );
      assert.match(created.out, /^slc_\S+\n$/, 'the secret alone, for pipes');
      await writeFile(join(folder, 'ci-token'), created.out, { mode: 0o600 });
      const text = await fails(4, ['queue', 'list', '--token-file', 'ci-token']);
      assert.match(text, /scope "read".*\nThe token came from ci-token/);
    });

    it('makes, lists and revokes tokens, and makes organizations', async () => {
      const day = 86_400_000;
      const token = JSON.parse(
        await ok([
          'token',
          'create',
          '--name',
          'bot',
          '--scope',
          'read,submit',
          '--scope',
          'targets',
          '--expires',
          '90d',
          '--json',
        ]),
      );
      assert.deepEqual(token.scopes, ['read', 'submit', 'targets']);
      assert.ok(Math.abs(Date.parse(token.expiresAt) - Date.now() - 90 * day) < day);
      const asBot = { env: { SLUICE_URL: world.server.url, SLUICE_TOKEN: token.token } };
      assert.match(await ok(['queue', 'list'], asBot), /local\/acme\/app/);
      assert.match(await ok(['token', 'list']), new RegExp(`${token.id}\\tbot\\tread,submit,targets\\tall`));
      assert.match(await ok(['token', 'revoke', token.id]), /is revoked/);
      assert.match(await ok(['token', 'list']), new RegExp(`${token.id}\\t.*revoked`));
      assert.match(await fails(4, ['queue', 'list'], asBot), /revoked/);
      const organization = await ok(['org', 'add', 'other']);
      assert.match(
        await ok(['queue', 'list'], { env: { SLUICE_URL: world.server.url, SLUICE_TOKEN: organization.trim() } }),
        /No queues yet/,
      );
      assert.match(await fails(1, ['org', 'add', 'other']), /other/);
    });

    it('acts for another organization that is named, with an instance token [A23]', async () => {
      const secret = (await ok(['org', 'add', 'named'])).trim();
      const itself = { env: { SLUICE_URL: world.server.url, SLUICE_TOKEN: secret } };
      await ok(['repo', 'add', 'local/acme/app', '--git', join(folder, 'app.git'), '--org', 'named']);
      await ok(['queue', 'create', 'local/acme/app', 'main', '--org', 'named']);
      assert.match(await ok(['queue', 'list'], itself), /local\/acme\/app/);
      assert.match(await fails(1, ['repo', 'list', '--org', 'default'], itself), /"default".*--org \(or SLUICE_ORG\)/);
      assert.match(await fails(2, ['repo', 'list', '--org', 'no slug']), /--org is the slug/);
    });

    it('asks before it revokes a token that may be the one in use', async () => {
      const create = ['token', 'create', '--name', 'second', '--scope', 'admin', '--json'];
      const { id } = JSON.parse(await ok(create));
      assert.match(await fails(2, ['token', 'revoke', id]), /may be the token in use.*SLUICE_ADMIN_TOKEN.*--yes/);
      assert.match(await ok(['token', 'revoke', id, '--yes']), /is revoked/);
      const { tokens } = JSON.parse(await ok(['token', 'list', '--json']));
      const admin = tokens.find(({ name }: { name: string }) => name === 'admin');
      assert.match(await fails(2, ['token', 'revoke', admin.id]), /is the token in use, and the only one/);
      assert.match(await fails(1, ['token', 'revoke', admin.id, '--yes']), /no administrator gets in.*--even-if-last/s);
      assert.equal(tokens.find((token: { id: string }) => token.id === id).madeBy, 'admin');
      const lonely = {
        env: { SLUICE_URL: world.server.url, SLUICE_TOKEN: (await ok(['org', 'add', 'lonely'])).trim() },
      };
      const [first] = JSON.parse(await ok(['token', 'list', '--json'], lonely)).tokens;
      assert.match(await ok(['token', 'revoke', first.id, '--even-if-last'], lonely), /is revoked/);
    });
  });
});

describe('sluice without a good server', () => {
  const withServer = async (
    answer: (request: IncomingMessage, response: ServerResponse) => void,
    test: (env: Readonly<Record<string, string>>) => Promise<void>,
  ): Promise<void> => {
    const server = createServer(answer);
    const url = await listen(server);
    try {
      await test({ SLUICE_URL: url, SLUICE_TOKEN: 'slc_test' });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  };

  it('exits with 3 where no server listens, and says how to start one', async () => {
    let gone: Readonly<Record<string, string>> = {};
    await withServer(
      () => {},
      async (env) => {
        gone = env;
      },
    );
    for (const args of [['status'], ['queue', 'list']]) {
      const { code, err } = await sluice(args, { env: gone });
      const text = `sluice: No server answers at ${gone['SLUICE_URL']}. Start one with \`sluice serve\`, or set SLUICE_URL.\n`;
      assert.deepEqual([code, err], [3, text]);
    }
    const { code, err } = await sluice(['status', '--url', 'http://127.0.0.1:6000']);
    assert.equal(code, 3);
    // `fetch` refuses this port without asking there.
    assert.match(err, /No server answers at http:\/\/127\.0\.0\.1:6000\./);
  });

  it('exits with 3 when the server fails, redirects or is another one', async () => {
    const problem = JSON.stringify({
      status: 503,
      code: 'UNAVAILABLE',
      detail: 'The store does not answer.',
      requestId: 'r-1',
    });
    const answers: readonly (readonly [status: number, type: string, body: string, expected: RegExp])[] = [
      [503, 'application/problem+json', problem, /The store does not answer\.\n.*request id r-1/],
      [502, 'text/html', '<html>', /not as Sluice does \(HTTP 502/],
      [200, 'text/html', '<html>', /Check SLUICE_URL/],
      [404, 'application/json', '{}', /not as Sluice does/],
      [308, 'text/plain', '', /redirects to https:\/\/elsewhere\.dev/],
    ];
    for (const [status, type, body, expected] of answers) {
      await withServer(
        (_request, response) =>
          response.writeHead(status, { 'content-type': type, location: 'https://elsewhere.dev' }).end(body),
        async (env) => {
          const { code, err } = await sluice(['queue', 'list'], { env });
          assert.equal(code, 3);
          assert.match(err, expected);
        },
      );
    }
  });

  it('warns where the server is older or newer [W38]', async () => {
    const problem = JSON.stringify({ status: 404, code: 'ROUTE_NOT_FOUND', detail: 'There is no such address.' });
    for (const [version, advice] of [
      ['0.0.1', 'Update the server'],
      ['99.0.0', 'Update this command'],
    ]) {
      await withServer(
        (_request, response) => {
          const headers = { 'content-type': 'application/problem+json', 'sluice-version': version };
          response.writeHead(404, headers).end(problem);
        },
        async (env) => {
          for (const args of [['status'], ['queue', 'list'], ['pr', 'status', '7']]) {
            const { code, err } = await sluice(args, { env });
            assert.equal(code, 1);
            const [first = '', ...others] = err.split('\n').filter((line) => line.includes('version'));
            assert.ok(first.includes(`version ${version}`) && first.includes(`${advice} if`), err);
            assert.deepEqual(others, []);
          }
        },
      );
    }
  });
});
