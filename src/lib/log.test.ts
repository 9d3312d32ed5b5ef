import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createJsonLog, createTextLog } from './log.ts';

describe('logs', () => {
  it('write one JSON object a line, from their level up', () => {
    const lines: string[] = [];
    const log = createJsonLog('warn', (line) => lines.push(line));
    log.info({}, 'nobody reads this');
    log.warn({ a: 'x\ny', b: undefined }, 'careful');
    assert.equal(lines.length, 1);
    const { time, ...rest } = JSON.parse(lines[0] ?? '') as { time: string };
    assert.deepEqual(rest, { level: 'warn', a: 'x\ny', text: 'careful' });
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.match(lines[0] ?? '', /^[^\n]*\n$/);
  });

  it('tell what an error says, where it comes from and what caused it', () => {
    const lines: string[] = [];
    const log = createJsonLog('info', (line) => lines.push(line));
    log.error({ err: new Error('outer', { cause: Object.assign(new Error('inner'), { code: 'E1' }) }) }, 'broken');
    log.error({ err: 'a text' }, 'broken');
    const [first, second] = lines.map((line) => JSON.parse(line) as { err: never });
    const { message, stack, cause } = (first as unknown as { err: Record<string, unknown> }).err;
    assert.equal(message, 'outer');
    assert.match(String(stack), /log\.test/);
    assert.deepEqual((cause as { code: string; message: string }).code, 'E1');
    assert.equal(second?.err, 'a text');
  });

  it('are one line of words on a terminal', () => {
    const lines: string[] = [];
    createTextLog('info', (line) => lines.push(line)).info({ status: 200, none: undefined }, 'request');
    assert.match(lines[0] ?? '', /^\S+\d\d:\d\d:\d\d\.\d{3}\S* \S*info\S* request status=200\n$/);
  });

  it('show a terminal no control characters of others', () => {
    const lines: string[] = [];
    createTextLog('info', (line) => lines.push(line)).info({ title: 'a\nb\u001b[2J\u202e' }, 'by \u0007mallory');
    assert.match(lines[0] ?? '', /by \ufffdmallory title=a\ufffdb\ufffd\[2J\ufffd\n$/);
  });
});
