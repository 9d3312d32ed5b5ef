import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { parseCode, readPastedCode } from './receive-code.ts';

const CODE = '0123456789abcdef';

describe('a code that is pasted', () => {
  it('is found in what people copy [G94]', () => {
    for (const text of [CODE, ` ${CODE}\r`, `http://127.0.0.1:9/created?code=${CODE}&state=x`, `code=${CODE}&state=x`])
      assert.equal(parseCode(text), CODE, text);
    for (const text of ['', 'x', 'https://github.com/settings/apps', 'a b c d e f g h i', 'code=']) {
      assert.equal(parseCode(text), undefined, text);
    }
  });

  it('is waited for, line by line, until the input ends [G94]', async () => {
    const complaints: string[] = [];
    const [input, other] = [new PassThrough(), new PassThrough()];
    const pasted = readPastedCode(input, (line) => complaints.push(line));
    input.write(`\nwhat?\ncode=${CODE}\n`);
    assert.equal(await pasted.code, CODE);
    assert.deepEqual(complaints, ['what?']);
    pasted.close();
    const none = readPastedCode(other, () => undefined);
    other.end('nothing');
    await assert.rejects(none.code, /ended/);
  });
});
