import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { before, describe, it } from 'node:test';
import type { CheckConclusion } from '../../src/engine/model/check.ts';
import { madeOnce } from '../helpers/made.ts';
import { type StoredCandidate, storeCandidate } from '../helpers/store-candidate.ts';
import { createInProcess, TOKEN } from '../worlds/server/in-process.ts';
import { until } from './harness.ts';
import { sluice } from './kept-sluice.ts';
import { HAS_TERMINAL, runOnTerminal, runSluice } from './run-sluice.ts';

describe('sluice logs [W3]', () => {
  const world = madeOnce(() => createInProcess());
  let env: Readonly<Record<string, string>>;
  let queues = 0;

  before(async () => {
    await world.server.listen({ port: 0, host: '127.0.0.1' });
    const { port } = world.server.server.address() as AddressInfo;
    env = { SLUICE_URL: `http://127.0.0.1:${port}`, SLUICE_TOKEN: TOKEN };
  });

  /** A candidate with these checks, on a queue of its own; undefined: it runs. */
  function aCandidate(checks: Readonly<Record<string, CheckConclusion | undefined>>): Promise<StoredCandidate> {
    queues += 1;
    return storeCandidate(world.store, world.repository.id, { branch: `b${queues}`, checks });
  }

  const append = (candidateId: string, check: string, text: string) =>
    world.store.logs.append({ candidateId, check }, Buffer.from(text), 1);
  const logs = (...args: string[]) => sluice(['logs', ...args], { env });

  it('prints what the check printed, as it is, where the output is no terminal', async () => {
    const { id } = await aCandidate({ unit: 'SUCCESS' });
    const text = `\u001b[2Jé${'x'.repeat(300_000)}\n`;
    await append(id, 'unit', text);
    assert.deepEqual(await logs(id), { code: 0, out: text, err: '' });
    assert.deepEqual(await logs(`${id}-bisection`, 'unit'), { code: 0, out: text, err: '' });
    const answer = JSON.parse((await logs(id, '--json')).out);
    assert.deepEqual([answer.text === text, answer.nextOffset, answer.complete], [true, Buffer.byteLength(text), true]);
  });

  it('says how to follow a check that still runs [W12]', async () => {
    const { id } = await aCandidate({ unit: undefined });
    const none = `unit has printed nothing yet.\nunit is not done. To follow it: sluice logs -f ${id} unit\n`;
    assert.deepEqual(await logs(id), { code: 0, out: '', err: none });
    await append(id, 'unit', 'half');
    const half = { code: 0, out: 'half', err: `unit is not done. To follow it: sluice logs -f ${id} unit\n` };
    assert.deepEqual(await logs(id), half);
  });

  it('follows a check until it has ended [W12]', async () => {
    const candidate = await aCandidate({ unit: undefined });
    await append(candidate.id, 'unit', 'one\n');
    const running = runSluice(['logs', '-f', candidate.id], env);
    await until('the first line is there', 20_000, async () => running.output.out === 'one\n' || undefined);
    await append(candidate.id, 'unit', 'two\n');
    await until('the second line is there', 20_000, async () => running.output.out === 'one\ntwo\n' || undefined);
    await append(candidate.id, 'unit', 'three\n');
    await candidate.conclude('unit', 'FAILURE');
    world.app.queues.forget(candidate.queueId);
    assert.deepEqual(await running.ended, { code: 0, out: 'one\ntwo\nthree\n', err: '' });
  });

  it('prints those that failed, and names the others [W11]', async () => {
    const { id } = await aCandidate({ lint: 'SUCCESS', unit: 'FAILURE' });
    await append(id, 'lint', 'fine\n');
    await append(id, 'unit', 'broken\n');
    assert.deepEqual(await logs(id), { code: 0, out: 'broken\n', err: 'It has 1 more check: lint.\n' });
    assert.deepEqual(await logs(id, 'lint'), { code: 0, out: 'fine\n', err: '' });
  });

  it('prints all with headings where none failed [W11]', async () => {
    const { id } = await aCandidate({ lint: 'SUCCESS', unit: 'SUCCESS' });
    await append(id, 'lint', 'fine\n');
    await append(id, 'unit', 'ok\n');
    assert.deepEqual(await logs(id), { code: 0, out: '== lint (SUCCESS)\nfine\n\n== unit (SUCCESS)\nok\n', err: '' });
  });

  it('names the checks there are for an unknown one, and says that a test run is unknown', async () => {
    const { id } = await aCandidate({ lint: 'SUCCESS' });
    const unknown = await logs(id, 'units');
    assert.deepEqual([unknown.code, unknown.out], [1, '']);
    assert.equal(unknown.err, 'sluice: <check> must be a check of this test run: there are lint, unit.\n');
    const nowhere = await logs('0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55');
    assert.equal(nowhere.code, 1);
    assert.match(nowhere.err, /There is no test run 0f6fd6c4/);
    assert.equal((await logs()).code, 2);
  });

  it('lets nothing but colours through to a terminal', { skip: !HAS_TERMINAL }, async () => {
    const { id } = await aCandidate({ unit: 'SUCCESS' });
    await append(id, 'unit', '\u001b[31mred\u001b[0m \u001b[2J\u001b]0;title\u0007end\n');
    const { out } = await runOnTerminal(['logs', id], env).ended;
    assert.equal(out, '\u001b[31mred\u001b[0m  [2J ]0;title end\r\n\u001b[0m');
  });
});
