import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { SLUICE_SOURCE } from '../helpers/sluice-command.ts';

/** Prints the modules that a command loaded. */
const LIST_MODULES = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module';
const urls = [];
registerHooks({ load(url, context, next) { urls.push(url); return next(url, context); } });
process.on('exit', () => process.stdout.write('\\n' + JSON.stringify(urls)));
`)}`;

function modulesOf(args: readonly string[]): Promise<readonly string[]> {
  // The port belongs to nobody, so the command ends with its first call.
  const env = { ...process.env, SLUICE_URL: 'http://127.0.0.1:9', SLUICE_TOKEN: 'none' };
  return new Promise((resolve) => {
    execFile(process.execPath, ['--import', LIST_MODULES, SLUICE_SOURCE, ...args], { env }, (_error, out) =>
      resolve(JSON.parse(out.slice(out.lastIndexOf('\n')))),
    );
  });
}

describe('the modules of a command [W20]', () => {
  for (const [file, ...args] of [
    ['pr/pr', 'pr', 'status', 'local/acme/app', 'main', '7'],
    ['queue', 'queue', 'show', 'local/acme/app', 'main'],
  ] as const) {
    it(`${args.slice(0, 2).join(' ')} loads neither schemas nor other commands`, async () => {
      const urls = await modulesOf(args);
      assert.ok(urls.some((url) => url.endsWith(`/src/cli/${file}.ts`)));
      const foreign = urls.filter((url) =>
        /typebox|\/src\/contract\/|\/src\/engine\/|\/cli\/(?:tests|upload)\//.test(url),
      );
      assert.deepEqual(foreign, []);
      assert.ok(urls.length < 70, `${urls.length} modules`);
    });
  }
});
